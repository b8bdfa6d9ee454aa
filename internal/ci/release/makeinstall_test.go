package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// `make install` puts the program, its man pages and completions where people's
// shells and man look below a prefix; bash reads the completion and completes.
func TestMakeInstall(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it builds the program")
	}
	root, _, _ := strings.Cut(mustOutput(t, "git", "rev-parse", "--show-toplevel"), "\n")
	dir := t.TempDir()
	make := exec.Command("make", "-C", root, "install", "DESTDIR="+dir, "PREFIX=/usr")
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	share := filepath.Join(dir, "usr/share")
	for name, part := range map[string]string{
		"man/man1/envfix.1": ".SH", "man/man1/envfix-apply.1": "--kernel",
		"bash-completion/completions/envfix": "complete", "zsh/site-functions/_envfix": "#compdef envfix", "fish/vendor_completions.d/envfix.fish": "complete -c envfix",
	} {
		b, err := os.ReadFile(filepath.Join(share, name))
		if text := strings.ReplaceAll(string(b), `\-`, "-"); err != nil || !strings.Contains(text, part) {
			t.Errorf("%s: %v, without %q", name, err, part)
		}
	}
	complete := exec.Command("bash", "--norc", "-c", `. "$0"; COMP_WORDS=(envfix appl); COMP_CWORD=1; COMP_LINE="envfix appl"; COMP_POINT=11
		f=$(complete -p envfix | sed 's/.*-F \([^ ]*\).*/\1/'); "$f" envfix appl envfix; echo "${COMPREPLY[*]}"`, share+"/bash-completion/completions/envfix")
	complete.Env = append(os.Environ(), "PATH="+dir+"/usr/bin:"+os.Getenv("PATH"))
	if out, err := complete.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "apply" {
		t.Errorf("bash completes %q: %v", out, err)
	}
}

func mustOutput(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	return string(out)
}
