package installers

import (
	"fmt"
	"slices"

	"envfix/internal/plan"
)

// pip installs wheels with the pip of a Python that is here.
type pip struct{}

func (p pip) steps(b *builder) error { b.venv(p); return nil }

func (pip) bring(b *builder) (string, bool) {
	py, ok := b.interpreter()
	switch {
	case !ok && unseen(b.r, b.h) && b.h.Platform.OS == "windows":
		return "py", true // PEP 397's launcher, which python.org's installer brings
	case !ok && unseen(b.r, b.h):
		return "python" + b.choice.Python, true
	case !ok:
		b.add(byHand("python", "install Python "+b.choice.Python, "pip cannot bring a Python, and there is no "+b.choice.Python,
			fmt.Sprintf("install Python %s, or drop `--manager pip`: uv brings its own", b.choice.Python)))
		return "", false
	}
	b.bringVenv(py)
	if b.src.offline && b.bundle == "" {
		b.warn(
			"without a network pip installs nothing that is not in a bundle: `--manager uv` installs what uv has cached, `--bundle DIR` what `envfix lock bundle` wrote",
		)
	}
	return py.Path, true
}

func (pip) create(b *builder, exe string) *plan.Run {
	argv := []string{exe, "-m", "venv", gen}
	if exe == "py" {
		argv = slices.Insert(argv, 1, "-"+b.choice.Python)
	}
	return &plan.Run{Argv: argv, Env: map[string]string{}}
}

func (p pip) begin(b *builder, _ string) []string { return p.program(b, b.python()) }

func (p pip) install(b *builder, _ string, c call) []string {
	argv := p.wheels(b, b.python(), c.index)
	if c.pre {
		argv = append(argv, "--pre")
	}
	if c.replaces && (b.t.Rebuild() || len(b.otherBuilds()) > 0) {
		argv = append(argv, "--force-reinstall")
	}
	return argv
}

func (p pip) again(b *builder, _ string, index *string, _ bool) []string {
	return append(p.wheels(b, b.python(), index), "--no-deps")
}

func (pip) copies(b *builder, _ string) []string {
	return []string{b.python(), "-I", "-m", "pip", "install", "--isolated", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"}
}

func (pip) remove(b *builder, _ string) []string {
	return []string{b.python(), "-I", "-m", "pip", "--isolated", "uninstall", "--yes"}
}

func (pip) check(b *builder, _ string) []string {
	return []string{b.python(), "-I", "-m", "pip", "--isolated", "check"}
}

func (pip) child() child {
	// --isolated alone still obeys /etc/pip.conf (measured with pip 23.0.1).
	return child{set: map[string]string{"PIP_CONFIG_FILE": "/dev/null"}, certificates: requestsBundle}
}

// program begins each call of pip. Both switches against the user's configuration
// are needed; see child.
func (pip) program(b *builder, python string) []string {
	argv := []string{python, "-I", "-m", "pip", "install", "--isolated", "--disable-pip-version-check",
		"--no-input", "--retries", retries, "--timeout", timeout}
	if dir := b.src.caches["PIP_CACHE_DIR"]; dir != "" { // --isolated ignores the variable
		argv = append(argv, "--cache-dir", dir)
	}
	return argv
}

// wheels is a call of pip for wheels with one index: nil is the default one.
func (p pip) wheels(b *builder, python string, index *string) []string {
	return append(append(p.program(b, python), "--only-binary", ":all:"), p.index(b, index)...)
}

func (pip) index(b *builder, index *string) []string {
	if b.src.offline {
		return []string{"--no-index"}
	}
	if url := b.src.url(index); url != "" {
		return []string{"--index-url", url}
	}
	return nil
}
