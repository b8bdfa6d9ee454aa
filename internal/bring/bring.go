// Package bring puts uv, or a Python, among envfix's own tools on a machine that has neither.
package bring

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/internal/reach"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/version"
)

// maxUV is more than uv's wheel, and than its program, take.
const maxUV = 200 << 20

// UV takes uv out of its newest wheel on an index, which is a zip archive with one
// program that needs nothing, held to the hash that the index names.
func UV(ctx context.Context, address, dir string, tell io.Writer) error {
	client, err := index.New(address, index.Options{})
	if err != nil {
		return err
	}
	page, err := client.Project(ctx, "uv")
	if err != nil {
		return err
	}
	f, _, ok := page.NewestFor(version.Specifier{}, "", probe.Gather(ctx, probe.Options{}).Platform)
	if !ok || f.SHA256 == "" {
		return fmt.Errorf("%s lists no wheel of uv, with its hash, for this system", client.Address())
	}
	fmt.Fprintf(tell, "Downloading %s\n", f.Name)
	b, err := client.Archive(ctx, f, maxUV)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	for _, m := range z.File {
		if !strings.HasSuffix(m.Name, ".data/scripts/uv") {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return err
		}
		program, err := io.ReadAll(io.LimitReader(r, maxUV))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
			return err
		}
		return system.WriteFile(filepath.Join(dir, "bin", "uv"), program, 0o755)
	}
	return fmt.Errorf("%s holds no program uv", f.Name)
}

// Python unpacks the distribution's Python below dir, and those of its libraries that
// the system has not. apt-get downloads them, checked as ever, into lists of its own. The
// program is told to look for libraries beside itself (DT_RPATH of the program counts for
// all that it loads, ld.so(8)), so that no variable has to.
func Python(ctx context.Context, dir string) error {
	apt := filepath.Join(dir, "apt")
	defer os.RemoveAll(apt)
	for _, sub := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, sub), 0o755); err != nil {
			return err
		}
	}
	aptGet := []string{"apt-get", "-q", "-o", "Dir::State::Lists=" + apt + "/lists", "-o", "Dir::Cache=" + apt, "-o", "Dir::Cache::Archives=" + apt + "/archives",
		"-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="} // what locks and users are for is the system's state
	if err := inTurn(ctx, append(aptGet, "update"), append(aptGet, "install", "-y", "--download-only", "--no-install-recommends", "python3", "patchelf")); err != nil {
		return err
	}
	archives, err := filepath.Glob(apt + "/archives/*.deb")
	if err != nil {
		return err
	}
	for _, deb := range archives {
		if err := inTurn(ctx, []string{"dpkg-deb", "-x", deb, dir}); err != nil {
			return err
		}
	}
	python, err := filepath.EvalSymlinks(dir + "/usr/bin/python3")
	if err != nil {
		return err
	}
	var beside []string
	for _, lib := range []string{"/usr/lib/*-linux-gnu*", "/lib/*-linux-gnu*"} {
		found, _ := filepath.Glob(dir + lib) // the pattern is well-formed
		beside = append(beside, text.Each(found, func(at string) string { return strings.Replace(at, dir, "$ORIGIN/../..", 1) })...)
	}
	return inTurn(ctx, []string{dir + "/usr/bin/patchelf", "--force-rpath", "--set-rpath", strings.Join(beside, ":"), python},
		[]string{python, "-I", "-c", "import ctypes, sqlite3, ssl"})
}

// inTurn runs one program after the other, until one fails.
func inTurn(ctx context.Context, commands ...[]string) error {
	for _, argv := range commands {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(argv[0]), err)
		}
	}
	return nil
}

// pythonHosts are where uv takes its Pythons from (uv 0.13, `uv python list --show-urls`).
var pythonHosts = []string{"https://releases.astral.sh", "https://github.com"}

// FromNothing says how uv and a Python come to this machine where it has neither and they
// shall come without root; index is the default one. ask: whether the network may be asked.
func FromNothing(ctx context.Context, h machine.Machine, t *plan.Target, index string, ask bool) {
	has := func(name string) bool { _, err := exec.LookPath(name); return err == nil }
	system := has("apt-get") || has("dnf") || has("zypper")
	if h.Platform.OS != "linux" || len(h.Pythons) > 0 || t.Offline || system && os.Geteuid() == 0 {
		return
	}
	if t.Bring = cmp.Or(team.DefaultIndex(plan.ParseMirrors(t.Mirrors)), index); t.Bring == "" || !ask {
		return
	}
	if pythonAnswers(ctx) {
		return
	}
	if t.Unpack = has("apt-get"); !t.Unpack && system && has("sudo") {
		t.Bring = ""
	}
}

// pythonAnswers reports whether a place answers that uv takes Python from.
func pythonAnswers(ctx context.Context) bool {
	hosts := pythonHosts
	if mirror := os.Getenv("UV_PYTHON_INSTALL_MIRROR"); mirror != "" {
		hosts = []string{mirror}
	}
	return slices.ContainsFunc(hosts, func(host string) bool { return reach.Index(ctx, host) == nil })
}
