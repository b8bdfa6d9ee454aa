package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tests named TestRelease install what `make release` made, with the tools that
// people use: `make e2e-release`. They fetch those tools, and a Debian 11.

// toolbox are the programs that check and install packages, pinned.
var toolbox = []string{"twine==7.0.0", "check-wheel-contents==0.6.3", "uv==0.13.9", "pipx==1.18.4", "check-jsonschema==0.39.0",
	"cyclonedx-python-lib[json-validation]==11.12.0", "py-rattler==0.28.0"}

// dist is the folder that make release wrote; the test is left out where none is
// named.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ENVFIX_DIST")
	if dir == "" {
		t.Skip("needs ENVFIX_DIST, the folder of a release: make e2e-release")
	}
	return dir
}

// made is the one file of the release that the pattern names.
func made(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s names %d files in %s, want 1", pattern, len(found), dist(t))
	}
	return found[0]
}

// row prints a line of the table that the closing note of a release shows.
func row(t *testing.T, artefact, where string, began time.Time) {
	t.Helper()
	info, err := os.Stat(artefact)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("| %s | %.2f MB | %s | %.2f s |", filepath.Base(artefact), float64(info.Size())/1e6, where, time.Since(began).Seconds())
}

// ran runs a program and returns what it printed.
func ran(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	out, err := (&command{argv: argv, env: env}).output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// tools installs the toolbox, once, and returns the folder of its commands.
var tools = sync.OnceValue(func() string {
	dir := os.Getenv(toolsPlace)
	output("python3", "-m", "venv", dir)
	output(append([]string{dir + "/bin/python", "-m", "pip", "install", "--quiet"}, toolbox...)...)
	return dir + "/bin"
})

// toolsPlace is the variable that names the folder of the toolbox to its tests.
const toolsPlace = "ENVFIX_RELEASE_TOOLS"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "envfix-tools-")
	if err == nil {
		err = os.Setenv(toolsPlace, dir)
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func toolsDir(t *testing.T) string {
	t.Helper()
	return tools()
}

func linuxWheel(t *testing.T) string { return made(t, "envfix_gpu-*manylinux_2_17_x86_64*.whl") }

func TestReleaseWheelsAreInOrder(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(dist(t), "*.whl"))
	if err != nil || len(found) != len(targets) {
		t.Fatalf("%d wheels, want %d (%v)", len(found), len(targets), err)
	}
	bin := toolsDir(t)
	ran(t, nil, append([]string{bin + "/twine", "check", "--strict"}, found...)...)
	ran(t, nil, append([]string{bin + "/check-wheel-contents"}, found...)...)
	for _, wheel := range found {
		info, err := os.Stat(wheel)
		if err != nil || info.Size() >= 8e6 {
			t.Errorf("%s has %d bytes, want fewer than 8,000,000 (%v)", filepath.Base(wheel), info.Size(), err)
		}
	}
}

// plans runs a plan that needs nothing of this machine and looks at its answer.
func plans(t *testing.T, env []string, argv ...string) {
	t.Helper()
	out := ran(t, env, append(argv, "plan", "--gpu", "V100", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--python", "3.12", "--libc", "glibc-2.36")...)
	if !strings.Contains(out, "cu126") {
		t.Errorf("%v does not plan:\n%s", argv, out)
	}
}

func TestReleasePip(t *testing.T) {
	wheel, venv := linuxWheel(t), t.TempDir()
	ran(t, nil, "python3", "-m", "venv", venv)
	began := time.Now()
	ran(t, nil, venv+"/bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel)
	row(t, wheel, "pip, a new environment", began)
	plans(t, nil, venv+"/bin/envfix")
	plans(t, nil, venv+"/bin/envfix-gpu")
	plans(t, nil, venv+"/bin/python", "-m", "envfix_gpu")
	target := t.TempDir()
	ran(t, nil, venv+"/bin/python", "-m", "pip", "uninstall", "--quiet", "-y", "envfix-gpu")
	ran(t, nil, venv+"/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--target", target, wheel)
	plans(t, []string{"PYTHONPATH=" + target}, venv+"/bin/python", "-m", "envfix_gpu")
}

func TestReleaseUv(t *testing.T) {
	wheel, uv, home := linuxWheel(t), toolsDir(t)+"/uv", t.TempDir()
	env := []string{"UV_CACHE_DIR=" + home + "/cache", "UV_TOOL_DIR=" + home + "/tools", "UV_TOOL_BIN_DIR=" + home + "/bin", "UV_OFFLINE=1", "UV_NO_CONFIG=1"}
	began := time.Now()
	plans(t, env, uv, "tool", "run", "--find-links", filepath.Dir(wheel), "--prerelease=allow", "envfix-gpu")
	row(t, wheel, "uvx envfix-gpu plan, from nothing", began)
	began = time.Now()
	plans(t, env, uv, "tool", "run", "--find-links", filepath.Dir(wheel), "--prerelease=allow", "envfix-gpu")
	row(t, wheel, "uvx envfix-gpu plan, again", began)
	began = time.Now()
	ran(t, env, uv, "tool", "install", "--quiet", "--find-links", filepath.Dir(wheel), "--prerelease=allow", "envfix-gpu")
	row(t, wheel, "uv tool install", began)
	plans(t, env, home+"/bin/envfix")
	plans(t, env, home+"/bin/envfix-gpu")
}

// TestReleaseUvPlatforms lets uv's resolver choose among all the wheels for machines
// that are not here.
func TestReleaseUvPlatforms(t *testing.T) {
	uv, wheel := toolsDir(t)+"/uv", linuxWheel(t)
	for platform, tag := range map[string]string{
		"x86_64-manylinux_2_17": "manylinux_2_17_x86_64", "x86_64-manylinux_2_40": "manylinux_2_17_x86_64", "x86_64-unknown-linux-musl": "musllinux_1_1_x86_64",
		"aarch64-manylinux_2_28": "manylinux_2_17_aarch64", "aarch64-unknown-linux-musl": "musllinux_1_1_aarch64",
		"x86_64-pc-windows-msvc": "win_amd64", "aarch64-apple-darwin": "macosx_12_0_arm64", "x86_64-apple-darwin": "macosx_12_0_x86_64",
	} {
		dir := t.TempDir()
		ran(t, []string{"UV_NO_CONFIG=1"}, uv, "pip", "install", "--quiet", "--offline", "--no-cache", "--no-index", "--find-links", filepath.Dir(wheel), "--prerelease=allow",
			"--python-platform", platform, "--target", dir, "envfix-gpu")
		found, err := filepath.Glob(dir + "/envfix_gpu-*.dist-info/WHEEL")
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %d installed (%v)", platform, len(found), err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil || !strings.Contains(string(text), tag) {
			t.Errorf("%s: uv took a wheel without %s (%v):\n%s", platform, tag, err, text)
		}
	}
}

func TestReleasePipx(t *testing.T) {
	wheel, bin, home := linuxWheel(t), toolsDir(t), t.TempDir()
	env := []string{"PIPX_HOME=" + home, "PIPX_BIN_DIR=" + home + "/bin", "PIPX_MAN_DIR=" + home + "/man", "PIPX_SHARED_LIBS=" + home + "/shared", "PATH=" + bin + ":" + os.Getenv("PATH")}
	began := time.Now()
	ran(t, env, bin+"/pipx", "install", "--quiet", wheel)
	row(t, wheel, "pipx install (its own first start included)", began)
	plans(t, env, home+"/bin/envfix")
}

// TestReleaseOldDebian installs with the old pip of Debian 11, and then the deb: put
// in over an older one, removed.
func TestReleaseOldDebian(t *testing.T) {
	wheel := linuxWheel(t)
	root := oldDebian(t)
	ran(t, nil, "cp", wheel, root+"/tmp/")
	began := time.Now()
	pip := ran(t, nil, "chroot", root, "pip3", "--version")
	ran(t, nil, "chroot", root, "pip3", "install", "--quiet", "--no-index", "/tmp/"+filepath.Base(wheel))
	row(t, wheel, fmt.Sprintf("Debian 11, %.10s", pip), began)
	plans(t, nil, "chroot", root, "envfix")
	plans(t, nil, "chroot", root, "envfix-gpu")
	ran(t, nil, "chroot", root, "pip3", "uninstall", "--quiet", "-y", "envfix-gpu")

	deb := made(t, "envfix_*_amd64.deb")
	ran(t, nil, "cp", deb, root+"/tmp/")
	ran(t, nil, "chroot", root, "sh", "-ec", `dpkg-deb -R "$1" /tmp/older
sed -i 's/^Version: .*/Version: 0.0.1/' /tmp/older/DEBIAN/control
dpkg-deb -b /tmp/older /tmp/older.deb
dpkg -i /tmp/older.deb`, "sh", "/tmp/"+filepath.Base(deb))
	began = time.Now()
	ran(t, nil, "chroot", root, "dpkg", "-i", "/tmp/"+filepath.Base(deb))
	row(t, deb, "Debian 11, dpkg -i, over an older one", began)
	plans(t, nil, "chroot", root, "envfix")
	if v := ran(t, nil, "chroot", root, "dpkg-query", "-W", "-f", "${Version}", "envfix"); v == "0.0.1" {
		t.Error("dpkg kept the older one")
	}
	ran(t, nil, "chroot", root, "dpkg", "-r", "envfix")
	if _, err := os.Stat(root + "/usr/bin/envfix"); err == nil {
		t.Error("dpkg -r left the program")
	}
}

// TestReleaseRPM installs the rpm into a root of its own, again, and removes it.
func TestReleaseRPM(t *testing.T) {
	pack, root := made(t, "envfix-*.x86_64.rpm"), t.TempDir()
	if _, err := exec.LookPath("rpm"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs rpm and root")
	}
	rpm := func(args ...string) {
		ran(t, nil, append([]string{"rpm", "--root", root, "--dbpath", "/var/lib/rpm"}, args...)...)
	}
	began := time.Now()
	rpm("--install", "--nodeps", pack)
	row(t, pack, "rpm --install, an empty root", began)
	plans(t, nil, root+"/usr/bin/envfix")
	rpm("--upgrade", "--force", "--nodeps", pack)
	rpm("--erase", "envfix")
	if _, err := os.Stat(root + "/usr/bin/envfix"); err == nil {
		t.Error("rpm --erase left the program")
	}
}

// TestReleaseLint asks Debian's own linter for errors.
func TestReleaseLint(t *testing.T) {
	deb := made(t, "envfix_*_amd64.deb")
	if _, err := exec.LookPath("lintian"); err != nil {
		t.Skip("needs lintian")
	}
	ran(t, nil, "lintian", "--allow-root", "--fail-on", "error", deb)
}

// goSarif is a module that holds the official schema of SARIF 2.1.0.
const goSarif = "github.com/owenrumney/go-sarif/v3@v3.3.1"

// actionlint checks workflows, their shell and the actions that they use.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"

// oldDebian is the root of a Debian 11 with Python and pip, fetched from the
// mirror that this system's apt uses; ENVFIX_DEBIAN11 names one that is there.
func oldDebian(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root for debootstrap and chroot")
	}
	root := t.TempDir()
	if ready := os.Getenv("ENVFIX_DEBIAN11"); ready != "" {
		ran(t, nil, "cp", "-a", ready+"/.", root)
		return root
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skip("needs debootstrap")
	}
	mirror, _, _ := strings.Cut(ran(t, nil, "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"), "\n")
	ran(t, nil, "debootstrap", "--variant=minbase", "--include=python3-pip,python3-venv,ca-certificates", "bullseye", root, mirror)
	return root
}
