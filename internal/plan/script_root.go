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
	run := text.Form("root %s", text.Join(step.Run.words(), " "))
	if step.Rehearsal != nil {
		s.rehearsal(step, run)
		return
	}
	argv := step.Run.Argv
	program := path.Base(argv[0])
	if program == "rpm" && slices.Contains(argv, "--import") || program == "gpg" {
		s.fingerprint(argv[len(argv)-1])
	}
	s.Add("%s", run)
	if program == "gpg" { // apt reads it as another user
		s.Add(" && root chmod 644 %s", quote(Keyring))
	}
	if program == "zypper" { // 102: a reboot is due, 103: zypper itself was renewed
		s.Add(` || case $? in 102|103) ;; *) exit 1 ;; esac`)
	}
	s.Add("\n")
	if step.Effect == nil {
		return
	}
	query := text.Const(`rpm -q --queryformat '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}'`)
	if program == "apt-get" {
		query = text.Const("dpkg-query -W -f '${Version}'")
	}
	s.Add(`[ "$(%s %s)" = %s ] || { echo %s >&2; exit 11; }`+"\n", query, quote(step.Effect.Package), quote(step.Effect.Version),
		quote(step.Effect.Package+" is not installed in the planned version"))
}

// fingerprint compares a signing key with the one it must be.
func (s *script) fingerprint(file string) {
	want := SigningKeys[strings.TrimSuffix(path.Base(file), ".pub")]
	if want == "" {
		s.refuse(fmt.Errorf("%q is not one of NVIDIA's signing keys", file))
	}
	s.Add("gpg --batch --with-colons --show-keys %s | grep -q '^fpr:::::::::%s:' || { echo 'this is not NVIDIA'\\''s signing key' >&2; exit 10; }\n",
		quote(file), text.Word(want))
}

// What each package manager prints of removals, as filters that leave one name a
// line; package apply reads the same.
var removalFilters = map[string]text.Quoted{
	"apt-get": text.Const(`sed -n 's/^\(Remv\|Purg\) \([a-z0-9][a-z0-9+.-]*\).*/\2/p'`),
	"dnf":     text.Const(`awk '/^[A-Z][A-Za-z ]*:$/ || /^Transaction Summary/ {on = /^Removing/; next} /^ +replacing / {sub(/\.(noarch|x86_64|aarch64|i686)$/, "", $2); print $2; next} on && /^ [^ ]/ {print $1}'`),
	"zypper":  text.Const(`awk '/ REMOVED:$/ {on = 1; next} !/^  / {on = 0} on {for (i = 1; i <= NF; i++) print $i}'`),
}

// rehearsal runs a simulation and ends the script where it would remove what the
// plan does not name.
func (s *script) rehearsal(step Step, run text.Quoted) {
	manager := path.Base(step.Run.Argv[0])
	filter, known := removalFilters[manager]
	if !known {
		s.refuse(fmt.Errorf("%s cannot be rehearsed in a script", manager))
	}
	s.Add(`said=$(%s) || case $said in *'Transaction Summary'*|*'Nothing to do'*) ;; *) printf '%%s\n' "$said"; exit 9 ;; esac
printf '%%s\n' "$said" | %s | while read -r gone; do
`, run, filter)
	var allowed []text.Quoted
	for _, glob := range step.Rehearsal.MayRemove {
		var around []text.Quoted
		for piece := range strings.SplitSeq(glob, "*") {
			if piece != "" && !text.IsWord(piece) {
				s.refuse(fmt.Errorf("%q is not a package's name", glob))
			}
			around = append(around, text.Word(piece))
		}
		allowed = append(allowed, text.Join(around, "*"))
	}
	if len(allowed) > 0 {
		s.Add("  case $gone in %s) continue ;; esac\n", text.Join(allowed, "|"))
	}
	s.Add(`  echo "installing the driver would remove $gone, which the plan does not name" >&2; exit 9
done
`)
}

// rootWrite writes a file as root.
func (s *script) rootWrite(w Write) {
	file := quote(w.Path)
	s.Add("root mkdir -p %s\nprintf %%s %s | root tee %[3]s >/dev/null\nroot chmod %[4]s %[3]s\n",
		quote(path.Dir(w.Path)), quote(w.Content), file, text.Octal(w.Mode))
}
