package installers

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

// uvBytes is what uv's own wheel takes to receive; on disk it is about three
// times that.
const uvBytes = 39 << 20

// uv installs wheels with uv, which brings its own Python where none fits.
type uv struct{}

func (u uv) steps(b *builder) error {
	if b.src.offline && b.t.Repair != nil && len(b.t.Repair.Fetch) > 0 {
		b.warn("uv's cache may hold the same broken files of %s, and without a network they cannot be fetched again", strings.Join(xslices.Once(b.t.Repair.Fetch), ", "))
	}
	b.venv(u)
	return nil
}

func (u uv) bring(b *builder) (string, bool) {
	if t, ok := tool(b.h, "uv"); ok {
		return t.Path, true
	}
	if unseen(b.r, b.h) {
		return "uv", true
	}
	if b.src.offline && b.tools == "" {
		b.add(byHand(plan.BringsUV, "bring uv", "there is none, and without a network it cannot be fetched",
			"put uv on PATH: one file, the same on every Linux of this architecture; or use the folder that `envfix lock bundle` writes, which holds it: `--bundle DIR`"))
		return "", false
	}
	python, ok := anyPython(b.h)
	if b.t.Bring != "" && (!ok || b.t.Unpack) {
		return u.fetched(b), true
	}
	if !ok {
		return b.systemPython()
	}
	b.bringVenv(python)
	dir := "{tools}/uv"
	b.add(running("tools", "make a place for uv", "there is no uv; installing is about four times faster with it (`--manager pip` declines)",
		&plan.Run{Argv: []string{python.Path, "-m", "venv", dir}, Env: map[string]string{}}))
	what, bytes := []string{"uv"}, int64(uvBytes)
	if b.tools != "" {
		what, bytes = []string{"--find-links", b.bundle, "--require-hashes", "-r", b.tools}, 0
	}
	b.add(plan.Step{ID: plan.BringsUV, Title: "install uv there", Why: "for envfix alone; nothing of yours changes", Bytes: bytes, Disk: 3 * uvBytes,
		Run: &plan.Run{Argv: append(pip{}.wheels(b, dir+"/"+b.bin()+"/python", nil), what...), Env: b.src.online(pip{})}})
	return dir + "/" + b.bin() + "/uv", true
}

// fetched has envfix take uv out of its wheel, where no Python is that could install it.
func (u uv) fetched(b *builder) string {
	run := func(args ...string) *plan.Run {
		return &plan.Run{Argv: append([]string{"{envfix}", "__bring"}, args...), Env: b.src.online(u)}
	}
	from := cmp.Or(b.src.mirrors.Default, b.t.Bring)
	b.add(plan.Step{ID: plan.BringsUV, Title: "bring uv",
		Why: "there is neither uv nor a Python; one program, for envfix alone, checked by the index's hash", Bytes: uvBytes, Disk: 2 * uvBytes,
		Run: run("--default-index", from, "uv", "{tools}/uv")})
	if b.t.Unpack {
		b.add(running("python", "unpack the distribution's Python beside", "there is none, and uv's own is out of reach; nothing of the system changes",
			run("python", "{tools}/python")))
	}
	return "{tools}/uv/bin/uv"
}

func (u uv) create(b *builder, exe string) *plan.Run {
	here, found := b.interpreter()
	py := here.Path
	if !found {
		py = b.choice.Python
		why := say.Either(unseen(b.r, b.h), "nobody looked whether that machine has one", "there is no interpreter of "+py)
		b.add(plan.Step{ID: "python", Title: "bring Python " + py, Why: why + "; uv keeps its own beside the system's",
			Run: &plan.Run{Argv: u.command(b, exe, "python", "install", py), Env: b.src.online(u)}, Bytes: 0})
	}
	return &plan.Run{Argv: u.command(b, exe, "venv", "--no-project", "--python", py, gen), Env: b.src.environment(u)}
}

// begin has uv fetch again what was written to in place: it installs by hard links where it can,
// so that what it keeps are the same files (docs.astral.sh/uv, link-mode). `uv cache clean` drops
// every version of a package, where this replaces the one that is installed.
func (u uv) begin(b *builder, exe string) []string {
	argv := u.command(b, exe, "pip", "install", "--python", b.python())
	if b.t.Repair == nil || b.src.offline { // uv refuses both together
		return argv
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(b.t.Repair.Fetch))) {
		argv = append(argv, "--refresh-package", name)
	}
	return argv
}

func (uv) index(b *builder, index *string) []string {
	if url := b.src.url(index); url != "" {
		return []string{"--default-index", url}
	}
	return nil
}

func (u uv) install(b *builder, exe string, c call) []string {
	argv := append(u.begin(b, exe), "--only-binary", ":all:")
	if c.pre {
		argv = append(argv, "--prerelease", "allow")
	}
	if c.replaces && b.t.Rebuild() {
		argv = append(argv, "--reinstall")
	} else if c.replaces {
		for _, name := range b.otherBuilds() {
			argv = append(argv, "--reinstall-package", name)
		}
	}
	return append(argv, u.index(b, c.index)...)
}

func (u uv) again(b *builder, exe string, index *string, wheels bool) []string {
	argv := append(u.begin(b, exe), "--no-deps")
	if wheels {
		argv = append(argv, "--only-binary", ":all:")
	}
	return append(argv, u.index(b, index)...)
}

// copies keeps none of what it installs: uv would keep another copy of each for ever.
func (uv) copies(b *builder, exe string) []string {
	return []string{exe, "pip", "install", "--python", b.python(), "--only-binary", ":all:", "--no-cache"}
}

func (u uv) remove(b *builder, exe string) []string {
	return u.command(b, exe, "pip", "uninstall", "--python", b.python())
}

func (uv) check(b *builder, exe string) []string {
	return []string{exe, "pip", "check", "--python", b.python()}
}

func (uv) child() child {
	return child{
		set:          map[string]string{"UV_NO_CONFIG": "1"},
		patience:     map[string]string{"UV_HTTP_TIMEOUT": timeout, "UV_HTTP_RETRIES": retries},
		caches:       []string{"UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR"},
		certificates: "SSL_CERT_FILE",
	}
}

func (uv) command(b *builder, exe string, args ...string) []string {
	if b.src.offline {
		return append([]string{exe, "--offline"}, args...)
	}
	return append([]string{exe}, args...)
}
