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
	s.line("# a bundle of certificates counts for every installer, whichever variable names it")
	s.line(`bundle=${SSL_CERT_FILE:-${REQUESTS_CA_BUNDLE:-${CURL_CA_BUNDLE:-${PIP_CERT:-}}}}`)
	s.line(`[ -z "$bundle" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$bundle}" REQUESTS_CA_BUNDLE="${REQUESTS_CA_BUNDLE:-$bundle}"`)
	s.line("user() {")
	s.line(`  env -i HOME="$HOME" PATH="$PATH" LANG="${LANG-C.UTF-8}" TERM="${TERM-dumb}" \`)
	for names := range slices.Chunk(ofTheMachine, 2) {
		words := ""
		for _, name := range names {
			words += "${" + name + `:+"` + name + "=$" + name + `"} `
		}
		s.line("    " + words + `\`)
	}
	s.line(`    "$@"`)
	s.line("}")
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
		r.Argv[0] = "{python}"
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
	case strings.HasPrefix(name, "python") && len(r.Argv) > 2 && r.Argv[2] == "venv":
		return "python"
	}
	return ""
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

// defaultMirror is what serves the default index by the pairs FROM=TO of a plan, the last
// of them; empty where none does, or where its address is none that a script can hold.
func defaultMirror(pairs []string) string {
	mirror := ""
	for _, pair := range pairs {
		if to, ok := strings.CutPrefix(pair, "default="); ok && text.IsWord(to) {
			mirror = to
		}
	}
	return mirror
}

// tools writes, once, how the program is found that r runs.
func (s *script) tools(r Run) {
	name := toolOf(r)
	if name == "" || slices.Contains(s.found, name) {
		return
	}
	s.found = append(s.found, name)
	switch name {
	case "uv":
		index := ""
		if to := defaultMirror(s.p.Target.Mirrors); to != "" {
			index = "--index-url " + to + " "
		}
		s.b.WriteString(strings.Replace(findUV, "--only-binary", index+"--only-binary", 1))
		if s.makesVenv() {
			s.b.WriteString(strings.ReplaceAll(findPython, "3.X", s.p.Python))
		}
	case "conda":
		tool := path.Base(r.Argv[0])
		s.line("conda=$(command -v " + tool + ") || { echo 'install " + tool + " first' >&2; exit 1; }")
	case "python":
		s.line("python=")
		s.line("for p in python" + s.p.Python + ` python3 python; do`)
		s.line(
			`  "$p" -c 'import sys, venv; sys.exit("%d.%d" % sys.version_info[:2] != "` + strings.TrimSuffix(
				s.p.Python,
				"t",
			) + `")' 2>/dev/null && python=$p && break`,
		)
		s.line("done")
		s.line(`[ -n "$python" ] || { echo 'install Python ` + s.p.Python + ` first' >&2; exit 1; }`)
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
  user PIP_CONFIG_FILE=/dev/null "$tools"/uv/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --only-binary :all: uv
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
const findPython = `python=3.X
for p in "$(command -v python3.X || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.X.*[0-9]/bin/python3.X; do
  if [ -x "$p" ] && user "$p" -c '' 2>/dev/null; then python=$p; break; fi
done
if [ "$python" = 3.X ] && ! user UV_NO_CONFIG=1 "$uv" python find --no-project --system 3.X >/dev/null 2>&1 &&
  ! user UV_NO_CONFIG=1 "$uv" python install 3.X; then
  echo 'Python 3.X is not on this machine, and uv could not bring it from where it keeps them (its words are above).' >&2
  echo 'Install Python 3.X, or name a mirror in UV_PYTHON_INSTALL_MIRROR, and run this again;' >&2
  echo 'or plan for a Python that is here: envfix plan --python VERSION --sh' >&2
  exit 1
fi
`
