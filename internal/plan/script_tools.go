package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/managers"
	"envfix/internal/text"
)

// ofTheMachine are variables that a script takes from where it runs. The plan
// names those of the machine that it was made on.
var ofTheMachine = []string{
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS",
	"UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR", "UV_PYTHON_INSTALL_MIRROR", "CONDA_PKGS_DIRS",
}

// userFunction defines how a program is started for the user: the installers see
// nothing of the user's configuration but what it takes to reach their index.
func (s *script) userFunction() {
	s.Add(`# a bundle of certificates counts for every installer, whichever variable names it
bundle=${SSL_CERT_FILE:-${REQUESTS_CA_BUNDLE:-${CURL_CA_BUNDLE:-${PIP_CERT:-}}}}
[ -z "$bundle" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$bundle}" REQUESTS_CA_BUNDLE="${REQUESTS_CA_BUNDLE:-$bundle}"
user() {
  env -i HOME="$HOME" PATH="$PATH" LANG="${LANG-C.UTF-8}" TERM="${TERM-dumb}" \
`)
	for names := range slices.Chunk(ofTheMachine, 2) {
		s.Add("    ")
		for _, name := range names {
			s.Add(`${%[1]s:+"%[1]s=$%[1]s"} `, text.Word(name))
		}
		s.Add("\\\n")
	}
	s.Add("    \"$@\"\n}\n")
}

// elsewhere is r for whichever machine runs the script: programs are found there,
// and so is what is the machine's own.
func (s *script) elsewhere(r Run) Run {
	r.Env = maps.Clone(r.Env)
	for _, name := range ofTheMachine {
		delete(r.Env, name)
	}
	r.Argv = slices.Clone(r.Argv)
	switch program := toolOf(r); {
	case program == "uv" || program == "conda":
		r.Argv[0] = "{" + program + "}"
	case program == "python":
		r.Argv = slices.Concat([]string{"{python}"}, r.Argv[max(slices.Index(r.Argv, "-m"), 1):]) // without py's own version
	}
	for i, a := range r.Argv {
		if i > 0 && r.Argv[i-1] == "--python" && path.IsAbs(a) {
			r.Argv[i] = s.p.Python // uv finds it, or brings it
		}
		if a == "--cache-dir" && i+1 < len(r.Argv) {
			return Run{Argv: slices.Delete(r.Argv, i, i+2), Env: r.Env, Dir: r.Dir, Known: r.Known}
		}
	}
	return r
}

// toolOf says which program of the machine a command runs: uv, conda, python; ""
// one of the environment or of envfix's own tools, or another.
func toolOf(r Run) string {
	name := strings.TrimSuffix(path.Base(r.Argv[0]), ".exe")
	switch {
	case r.Argv[0] == "{tools}/uv/bin/uv" || name == "uv":
		return "uv"
	case strings.HasPrefix(r.Argv[0], "{"):
		return ""
	case slices.Contains(managers.Conda(), name):
		return "conda"
	case (name == "py" || strings.HasPrefix(name, "python")) && slices.Contains(r.Argv[:min(4, len(r.Argv))], "venv"):
		return "python"
	}
	return ""
}

// Interpreter is where a plan's environment has its Python. Conda's has it in its root on
// Windows.
func (p *Plan) Interpreter() string {
	m, _ := managers.Find(p.Target.Manager)
	own := func(t Step) bool { return t.Run != nil && slices.Contains(t.Run.Argv, "{gen}/python") }
	switch {
	case p.Basis.Facts.Platform.OS != "windows":
		return "bin/python"
	case m.MakesConda() || slices.ContainsFunc(p.Steps, own):
		return "python"
	}
	return "Scripts/python"
}

// proves reports whether a plan ends with an environment that proved itself.
func (p *Plan) proves() bool {
	return slices.ContainsFunc(p.Steps, func(t Step) bool { return t.Verify != nil })
}

// ready is a script's last line: how what it made is put into use.
func (p *Plan) ready() string {
	m, _ := managers.Find(p.Target.Manager)
	use := ". " + text.Command(p.Target.Dir+"/bin/activate")
	switch {
	case m.MakesConda() && path.IsAbs(p.Target.Dir):
		use = m.Program + " activate " + text.Command(p.Target.Dir)
	case m.MakesConda():
		use = m.Program + " activate " + text.Command("./"+p.Target.Dir) // a bare name is one of conda's own
	case p.Basis.Facts.Platform.OS == "windows":
		use = text.Printable(p.Target.Dir) + `\Scripts\activate`
	}
	return text.Printable(p.Target.Dir) + " is ready: `" + use + "` puts it into use"
}

// bringsUV reports whether a step brings the uv of a machine without one; the
// script brings it by itself where it is missing.
func bringsUV(step Step) bool {
	return step.Run != nil && (step.ID == "tools" || step.ID == "uv") && strings.Contains(strings.Join(step.Run.Argv, " "), "{tools}/uv")
}

// bringsPython reports whether a step has uv bring a Python; findPython does so where
// there is none.
func bringsPython(step Step) bool {
	return step.Run != nil && toolOf(*step.Run) == "uv" && strings.HasSuffix(strings.Join(step.Run.Argv[:len(step.Run.Argv)-1], " "), " python install")
}

// defaultMirror are the words that name what serves the default index by the pairs FROM=TO
// of a plan, the last of them; none where none does.
func defaultMirror(pairs []string) (words []string) {
	if m := ParseMirrors(pairs); m.Default != "" {
		words = []string{"--index-url", m.Default}
	}
	return words
}

// programs tells of each program that steps run, once, with the first that runs it.
func (s *script) programs(tell func(name string, r Run)) {
	told := map[string]bool{"": true}
	for _, step := range s.p.Steps {
		if step.Run == nil || step.Root || bringsUV(step) {
			continue
		}
		if name := toolOf(*step.Run); !told[name] {
			told[name] = true
			tell(name, *step.Run)
		}
	}
}

// tool writes how the program is found that r runs.
func (s *script) tool(name string, r Run) {
	switch name {
	case "uv":
		var index text.Doc
		for _, w := range defaultMirror(s.p.Target.Mirrors) {
			index.Add("%s ", quote(w))
		}
		s.Add(findUV, index.Quoted())
		if s.makesVenv() {
			s.Add(findPython, text.Word(s.p.Python))
		}
	case "conda":
		s.Add("conda=$(command -v %[1]s) || { echo 'install %[1]s first' >&2; exit 1; }\n", text.Word(path.Base(r.Argv[0])))
	case "python":
		s.Add(`python=
for p in python%[1]s python3 python; do
  "$p" -c 'import sys, venv; sys.exit("%%d.%%d" %% sys.version_info[:2] != "%[2]s")' 2>/dev/null && python=$p && break
done
[ -n "$python" ] || { echo 'install Python %[1]s first' >&2; exit 1; }
`, text.Word(s.p.Python), text.Word(strings.TrimSuffix(s.p.Python, "t")))
	}
}

// findUV takes the uv that answers (a shim of pyenv may be none), else brings one
// with pip into a place of its own; where there is no Python either, with the
// distribution's.
const findUV = `uv=$(command -v uv || true)
if [ -z "$uv" ] || ! user "$uv" --version >/dev/null 2>&1; then uv=$tools/uv/bin/uv; fi
if [ ! -x "$uv" ]; then
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    if command -v apt-get >/dev/null; then
      root DEBIAN_FRONTEND=noninteractive apt-get update
      root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv
    elif command -v dnf >/dev/null; then
      root dnf install -y python3 python3-pip
    else
      echo 'install uv (docs.astral.sh/uv), or a Python 3 with venv and pip, first' >&2
      exit 1
    fi
  fi
  user python3 -m venv "$tools"/uv
  user PIP_CONFIG_FILE=/dev/null "$tools"/uv/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input %s--only-binary :all: uv
fi
`

// makesVenv reports whether uv is to make an environment with a Python that has to be found.
func (s *script) makesVenv() bool {
	return s.p.Python != "" && slices.ContainsFunc(s.p.Steps, func(t Step) bool {
		return t.Run != nil && !t.Root && slices.Contains(s.withPython(s.elsewhere(*t.Run)).Argv, "{python}")
	})
}

// withPython is r with what findPython found in place of the version that uv is to find.
func (s *script) withPython(r Run) Run {
	for i, a := range r.Argv {
		if i > 0 && r.Argv[i-1] == "--python" && a == s.p.Python {
			r.Argv = slices.Clone(r.Argv)
			r.Argv[i] = "{python}"
		}
	}
	return r
}

// findPython takes the Python that is here, of PATH or of pyenv (whose shims answer only
// for the version that is chosen), else what uv finds or brings.
const findPython = `python=%[1]s
for p in "$(command -v python%[1]s || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/%[1]s.*[0-9]/bin/python%[1]s; do
  if [ -x "$p" ] && user "$p" -c '' 2>/dev/null; then python=$p; break; fi
done
if [ "$python" = %[1]s ] && ! user UV_NO_CONFIG=1 "$uv" python find --no-project --system %[1]s >/dev/null 2>&1 &&
  ! user UV_NO_CONFIG=1 "$uv" python install %[1]s; then
  echo 'Python %[1]s is not on this machine, and uv could not bring it from where it keeps them (its words are above).' >&2
  echo 'Install Python %[1]s, or name a mirror in UV_PYTHON_INSTALL_MIRROR, and run this again;' >&2
  echo 'or plan for a Python that is here: envfix plan --python VERSION --sh' >&2
  exit 1
fi
`
