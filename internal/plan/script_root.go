package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/text"
)

// root writes a command for root. A script that an administrator runs looks at
// what envfix would look at: the key before it is trusted, what a rehearsal would
// remove, and what is installed afterwards.
func (s *script) root(step Step) {
	words, err := step.Run.Words()
	s.fails(err)
	run := "root " + strings.Join(words, " ")
	if step.Rehearsal != nil {
		s.rehearsal(step, run)
		return
	}
	argv := step.Run.Argv
	program := path.Base(argv[0])
	if program == "rpm" && slices.Contains(argv, "--import") || program == "gpg" {
		s.fingerprint(argv[len(argv)-1])
	}
	if program == "gpg" { // apt reads it as another user
		run += " && root chmod 644 " + Keyring
	}
	if program == "zypper" { // 102: a reboot is due, 103: zypper itself was renewed
		run += ` || case $? in 102|103) ;; *) exit 1 ;; esac`
	}
	s.line(run)
	if step.Effect == nil {
		return
	}
	name, want := s.word(step.Effect.Package), s.word(step.Effect.Version)
	query := "rpm -q --queryformat '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}' " + name
	if program == "apt-get" {
		query = "dpkg-query -W -f '${Version}' " + name
	}
	s.line(fmt.Sprintf(`[ "$(%s)" = %s ] || { echo "%s is not installed in the planned version" >&2; exit 11; }`, query, want, name))
}

// fingerprint compares a signing key with the one it must be.
func (s *script) fingerprint(file string) {
	want := SigningKeys[strings.TrimSuffix(path.Base(file), ".pub")]
	if want == "" {
		s.fails(fmt.Errorf("%q is not one of NVIDIA's signing keys", file))
	}
	s.line(
		fmt.Sprintf(
			`gpg --batch --with-colons --show-keys %s | grep -q '^fpr:::::::::%s:' || { echo 'this is not NVIDIA'\''s signing key' >&2; exit 10; }`,
			s.word(file),
			want,
		),
	)
}

// What each package manager prints of removals, as filters that leave one name a
// line; package apply reads the same.
var removalFilters = map[string]string{
	"apt-get": `sed -n 's/^\(Remv\|Purg\) \([a-z0-9][a-z0-9+.-]*\).*/\2/p'`,
	"dnf":     `awk '/^[A-Z][A-Za-z ]*:$/ || /^Transaction Summary/ {on = /^Removing/; next} /^ +replacing / {sub(/\.(noarch|x86_64|aarch64|i686)$/, "", $2); print $2; next} on && /^ [^ ]/ {print $1}'`,
	"zypper":  `awk '/ REMOVED:$/ {on = 1; next} !/^  / {on = 0} on {for (i = 1; i <= NF; i++) print $i}'`,
}

// rehearsal runs a simulation and ends the script where it would remove what the
// plan does not name.
func (s *script) rehearsal(step Step, run string) {
	manager := path.Base(step.Run.Argv[0])
	filter, known := removalFilters[manager]
	if !known {
		s.fails(fmt.Errorf("%s cannot be rehearsed in a script", manager))
	}
	allowed := step.Rehearsal.MayRemove
	for _, glob := range allowed {
		if !text.IsWord(strings.ReplaceAll(glob, "*", "")) {
			s.fails(fmt.Errorf("%q is not a package's name", glob))
		}
	}
	s.line("said=$(" + run + `) || case $said in *'Transaction Summary'*|*'Nothing to do'*) ;; *) printf '%s\n' "$said"; exit 9 ;; esac`)
	s.line(`printf '%s\n' "$said" | ` + filter + ` | while read -r gone; do`)
	if len(allowed) > 0 {
		s.line("  case $gone in " + strings.Join(allowed, "|") + ") continue ;; esac")
	}
	s.line(`  echo "installing the driver would remove $gone, which the plan does not name" >&2; exit 9`)
	s.line("done")
}

// rootWrite writes a file as root.
func (s *script) rootWrite(w Write) {
	file := s.word(w.Path)
	s.line("root mkdir -p " + s.word(path.Dir(w.Path)))
	s.line(fmt.Sprintf("printf %%s %s | root tee %s >/dev/null", s.word(w.Content), file))
	s.line(fmt.Sprintf("root chmod %o %s", w.Mode&0o777, file))
}
