package apply

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
)

// CheckUser refuses a step of the user's half that no installer of envfix plans: a
// plan in a file is somebody's text, and what it may do is what envfix does. Root's
// half has a grammar of its own, see [CheckRoot]. Programs are the installers by
// what they are, in the environment, among envfix's own tools, or where installed
// reports that this machine has them; what is written are the few files that an
// environment takes, and blocks in it and in the start-up files of home's shells.
func CheckUser(p *plan.Plan, home string, installed func(program string) bool) error {
	for i, s := range p.Steps {
		if why := userStep(s, p.Target.Dir, home, installed); why != "" {
			return &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("step %d of the plan, %q, is none that envfix plans: %s", i+1, s.ID, why),
				Hints: []string{"`envfix plan --out FILE` makes a plan here; what is in this one may be run by hand, if you trust it"}}
		}
	}
	return nil
}

// userStep says why a step on the environment in dir is none that envfix plans; "" it is.
func userStep(s plan.Step, dir, home string, installed func(program string) bool) string {
	switch {
	case s.Root || s.Manual != nil || s.Verify != nil:
	case s.Run != nil:
		if why := userRun(s.Run, installed); why != "" || s.Undo == nil {
			return why
		}
		return userRun(s.Undo, installed)
	case s.Copy != nil:
		return userCopy(s.Copy, dir)
	case s.Clone != nil && s.Clone.Dir != dir:
		return fmt.Sprintf("it clones %q, and the plan is for %q", s.Clone.Dir, dir)
	case s.Write != nil:
		return userWrite(s.Write)
	case s.Block != nil:
		return userBlock(s.Block, home)
	case s.Switch != nil && s.Switch.Dir != dir:
		return fmt.Sprintf("it switches %q, and the plan is for %q", s.Switch.Dir, dir)
	}
	return ""
}

// The variables that installers are given, and what each may be.
var userEnv = map[string]func() *regexp.Regexp{
	"PIP_CONFIG_FILE": lazy.Regexp(`^/dev/null$`), "UV_NO_CONFIG": lazy.Regexp(`^1$`),
	"UV_SYSTEM_CERTS": word, "UV_NATIVE_TLS": word, "CONDA_OVERRIDE_CUDA": word, "NO_PROXY": network, "no_proxy": network,
	"UV_HTTP_TIMEOUT": word, "UV_HTTP_RETRIES": word, "CONDA_REMOTE_READ_TIMEOUT_SECS": word, "CONDA_REMOTE_MAX_RETRIES": word, "MAMBA_REMOTE_MAX_RETRIES": word,
	"HTTPS_PROXY": network, "https_proxy": network, "HTTP_PROXY": network, "http_proxy": network, "ALL_PROXY": network, "all_proxy": network,
	"SSL_CERT_FILE": network, "SSL_CERT_DIR": network, "REQUESTS_CA_BUNDLE": network, "CURL_CA_BUNDLE": network, "UV_PYTHON_INSTALL_MIRROR": network,
	"UV_CACHE_DIR": directory, "UV_PYTHON_INSTALL_DIR": directory, "PIP_CACHE_DIR": directory, "CONDA_PKGS_DIRS": directory,
}

var (
	word      = lazy.Regexp(`^[A-Za-z0-9.]{1,20}$`)
	network   = lazy.Regexp(`^[^\x00-\x1f]{1,1000}$`)
	directory = lazy.Regexp(`^/[^\x00-\x1f]{0,999}$`)
	shown     = lazy.Regexp(`^[^\x00-\x1f-][^\x00-\x1f]{0,999}$`) // no option, no control characters
	address   = lazy.Regexp(`^https?://[^\x00-\x20@]{1,1000}$`)
	number    = lazy.Regexp(`^[0-9]{1,5}$`)
	pythonExe = lazy.Regexp(`^python[0-9.]{0,5}t?(\.exe)?$`)
	pyVersion = lazy.Regexp(`^-3\.[0-9]{1,2}t?$`)
	ownPlace  = lazy.Regexp(`^\{(gen|tools)\}(/[A-Za-z0-9._-]+)*$`)
	fetchFile = lazy.Regexp(`^\{tools\}/[0-9A-F]{8}\.pub$`)
	fetchFrom = lazy.Regexp(`^https://developer\.download\.nvidia\.com/compute/cuda/repos/[a-z0-9]+/(x86_64|sbsa)/[0-9A-Fa-f]{8}\.pub$`)
	listFile  = lazy.Regexp(`^\{gen\}/envfix-(requirements\.txt|carried\.txt|carried/requirements\.txt)$`)
	heldFile  = lazy.Regexp(`^\{gen\}/envfix-(constraint|override|build-constraint)\.txt$`)
	moment    = lazy.Regexp(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T23:59:59Z$`)
	oneName   = lazy.Regexp(`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	nothing   = lazy.Regexp(`^:all:$|^allow$`)
)

// valued are the options of pip, uv and conda that a value follows, and what it may
// be; alone are those without one.
var (
	valued = map[string]func() *regexp.Regexp{
		"--retries": number, "--timeout": number, "--only-binary": nothing, "--no-binary": oneName, "--prerelease": nothing, "--cache-dir": directory, "--index-url": address,
		"--default-index": address, "--find-links": shown, "-r": listFile, "--python": shown, "--reinstall-package": shown, "--editable": shown,
		"--constraint": heldFile, "--override": heldFile, "--build-constraint": heldFile, "--exclude-newer": moment,
		"--prefix": lazy.Regexp(`^\{gen\}$`), "--channel": lazy.Regexp(`^[a-z][a-z0-9-]*$`),
	}
	alone = []string{"--isolated", "--disable-pip-version-check", "--no-input", "--no-index", "--no-deps", "--require-hashes", "--pre", "--force-reinstall",
		"--reinstall", "--offline", "--yes", "--override-channels", "--no-project", "--no-cache"}
)

var copied = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*==[A-Za-z0-9][A-Za-z0-9.+!_-]*$`)

func userCopy(c *plan.Copy, dir string) string {
	if c.Dir != dir {
		return fmt.Sprintf("it copies from %q, and the plan is for %q", c.Dir, dir)
	}
	for _, p := range c.Packages {
		if !copied().MatchString(p) {
			return fmt.Sprintf("%q is no package and its version", p)
		}
	}
	return ""
}

func userRun(r *plan.Run, installed func(string) bool) string {
	if len(r.Argv) == 0 || r.Dir != "" {
		return "it runs nothing, or somewhere else"
	}
	for name, value := range r.Env {
		if grammar := userEnv[name]; grammar == nil || !grammar().MatchString(value) {
			return fmt.Sprintf("the variable %s=%q is none that installers are given", name, value)
		}
	}
	program, args := r.Argv[0], r.Argv[1:]
	if program == "{envfix}" {
		return userBring(r.Argv)
	}
	if strings.HasPrefix(program, "{") {
		if !ownPlace().MatchString(program) || strings.Contains(program, "/..") {
			return fmt.Sprintf("%q is none of its own programs", program)
		}
	} else if !installed(program) {
		return fmt.Sprintf("%q is not where this machine has its installers; a plan that is made here names its own", program)
	}
	if !userArgs(strings.TrimSuffix(path.Base(filepath.ToSlash(program)), ".exe"), args) {
		return fmt.Sprintf("%q is no command line of an installer's", strings.Join(r.Argv, " "))
	}
	return ""
}

// userArgs reports whether arguments are what a plan gives the installer of that name.
func userArgs(name string, args []string) bool {
	switch {
	case pythonExe().MatchString(name):
		return pythonArgs(args)
	case name == "py":
		return len(args) > 0 && pyVersion().MatchString(args[0]) && pythonArgs(args[1:])
	case name == "uv":
		return uvArgs(args)
	case slices.Contains(managers.Conda(), name):
		return len(args) > 1 && (args[0] == "create" || args[0] == "install") && slices.Contains(args, "--override-channels") && installArgs(args[1:])
	case name == "curl":
		rest, ok := after(args, "--fail", "--silent", "--show-error", "--location", "--create-dirs", "--output")
		return ok && len(rest) == 2 && fetchFile().MatchString(rest[0]) && fetchFrom().MatchString(rest[1])
	}
	return false
}

// userBring admits what envfix starts of itself: it brings uv or a Python among its tools.
func userBring(argv []string) string {
	args, _ := after(argv[1:], "__bring")
	if rest, named := after(args, "--default-index"); named && len(rest) > 1 && address().MatchString(rest[0]) {
		args = rest[1:]
	}
	if len(args) != 2 || args[0] != "uv" && args[0] != "python" || args[1] != "{tools}/"+args[0] {
		return fmt.Sprintf("%q is nothing that envfix starts of itself", strings.Join(argv, " "))
	}
	return ""
}

func pythonArgs(args []string) bool {
	if len(args) == 3 && args[0] == "-m" && args[1] == "venv" {
		return ownPlace().MatchString(args[2])
	}
	pip, ok := after(args, "-I", "-m", "pip")
	if !ok {
		return false
	}
	if slices.Equal(pip, []string{"--isolated", "check"}) {
		return true
	}
	if names, removes := after(pip, "--isolated", "uninstall", "--yes"); removes {
		return installArgs(names)
	}
	pip, ok = after(pip, "install")
	return ok && slices.Contains(pip, "--isolated") && installArgs(pip)
}

func uvArgs(args []string) bool {
	if rest, offline := after(args, "--offline"); offline {
		args = rest
	}
	for _, verb := range [][]string{{"pip", "install"}, {"pip", "check"}, {"pip", "uninstall"}, {"venv"}, {"python", "install"}, {"cache", "clean"}} {
		if rest, ok := after(args, verb...); ok {
			return installArgs(rest)
		}
	}
	return false
}

func after(args []string, words ...string) ([]string, bool) {
	if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
		return nil, false
	}
	return args[len(words):], true
}

// installArgs admits the options that installers are planned with, in any order, and
// operands that are none.
func installArgs(args []string) bool {
	for i := 0; i < len(args); i++ {
		if grammar, takes := valued[args[i]]; takes {
			if i++; i == len(args) || !grammar().MatchString(args[i]) {
				return false
			}
			continue
		}
		if !slices.Contains(alone, args[i]) && !shown().MatchString(args[i]) {
			return false
		}
	}
	return true
}

// Built are the packages, addresses and folders that a plan's steps build, whatever else it
// says.
func Built(p *plan.Plan) (out []string) {
	for _, s := range p.Steps {
		if s.Run == nil {
			continue
		}
		wheels := slices.Contains(s.Run.Argv, "--only-binary")
		for i, arg := range s.Run.Argv {
			if i > 0 && s.Run.Argv[i-1] == "--no-binary" {
				at := slices.IndexFunc(s.Run.Argv, func(a string) bool { return strings.HasPrefix(a, arg+"==") })
				out = append(out, s.Run.Argv[max(at, i)])
			}
			_, value := valued[s.Run.Argv[max(i-1, 0)]]
			_, from, named := strings.Cut(arg, " @ ")
			switch folder := strings.ContainsAny(arg, `/\`) || strings.HasPrefix(arg, "."); {
			case wheels || i == 0 || value && s.Run.Argv[i-1] != "--editable" || strings.HasPrefix(arg, "{"):
			case named:
				from, _, _ = strings.Cut(from, " ;")
				out = append(out, from)
			case folder:
				out = append(out, arg)
			}
		}
	}
	return out
}

// A list of requirements is lines of them, with hashes; an option in it would have
// pip read another index or run something.
var requirementLine = lazy.Regexp(`^( *--hash=sha256:[0-9a-f]{64}| *#[^\x00-\x1f]*|[A-Za-z0-9][^\x00-\x1f]*?)?( *\\)?$`)

func userWrite(w *plan.Write) string {
	if w.Mode != 0o644 {
		return fmt.Sprintf("%s would have the mode %o", w.Path, w.Mode)
	}
	if w.Path == "pyproject.toml" || w.Path == "pixi.toml" {
		return ""
	}
	held := heldFile().MatchString(w.Path)
	if !held && !listFile().MatchString(w.Path) {
		return fmt.Sprintf("it writes %q", w.Path)
	}
	for line := range strings.Lines(w.Content) {
		line = strings.TrimSuffix(line, "\n")
		if !requirementLine().MatchString(line) || strings.Contains(strings.ReplaceAll(line, "--hash=", ""), " --") || held && strings.Contains(line, "@") {
			return fmt.Sprintf("%q stands in its list of packages", line)
		}
	}
	return ""
}

// startup are the files that a shell reads at its start, below the home directory.
var startup = []string{
	".bashrc",
	".bash_profile",
	".bash_login",
	".profile",
	".zshrc",
	".zshenv",
	".zprofile",
	".zlogin",
	".config/fish/config.fish",
	".kshrc",
	".cshrc",
	".tcshrc",
}

// The lines of a block: they take an entry out of a variable, or the value out of one that
// has but one.
var blockLine = lazy.Regexp(`^(unset PYTHONHOME|\[ "\$\{(?:` + machine.OneValue + `)-\}" != '[^'\x00-\x1f]*' \] \|\| unset (?:` + machine.OneValue + `)|export PYTHONNOUSERSITE='[^'\x00-\x1f]*'|` +
	`(LD_LIBRARY_PATH|PYTHONPATH|LD_PRELOAD)=\$\(printf %s "\$\{[A-Z_]+-\}" \| tr '[: ]{1,2}' '(\\n){1,2}' \| \{ grep -Fxv -- '[^'\x00-\x1f]*' \|\| :; \} \| paste -sd: -\))$`)

func userBlock(b *plan.Block, home string) string {
	profile := slices.ContainsFunc(startup, func(name string) bool { return home != "" && b.Path == filepath.Join(home, name) })
	if !profile && b.Path != "{gen}/bin/activate" && b.Path != "{gen}/etc/conda/activate.d/envfix.sh" {
		return fmt.Sprintf("it changes %q", b.Path)
	}
	if rest := strings.TrimPrefix(b.Backup, b.Path+".envfix-"); b.Backup != "" &&
		(!profile || len(rest) != 12 || strings.Trim(rest, "0123456789abcdef") != "") {
		return fmt.Sprintf("it writes %q", b.Backup)
	}
	for _, line := range b.Lines {
		if !blockLine().MatchString(line) {
			return fmt.Sprintf("%q would stand in %s", line, b.Path)
		}
	}
	return ""
}
