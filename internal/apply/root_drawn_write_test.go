//go:build linux

package apply

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"envfix/internal/plan"
)

// A quarter of a million files, drawn by breaking good and bad ones: what root's half
// admits is what a second reading admits, written apart from the first.
func TestThreat11DrawnFiles(t *testing.T) {
	const files = 250_000
	rng := rand.New(rand.NewPCG(11, 17))
	admitted := 0
	for range files {
		w := drawnFile(rng)
		got := CheckRoot(plan.Step{ID: "x", Write: &w}) == nil
		if want := secondFile(w); got != want {
			t.Fatalf("%+v: admitted %v, by the second reading %v", w, got, want)
		}
		if got {
			admitted++
		}
	}
	t.Logf("%d of %d drawn files were admitted", admitted, files)
	if admitted < files/200 || admitted > files/2 {
		t.Errorf("%d of %d drawn files were admitted: the draw says little", admitted, files)
	}
}

const sles15 = "[cuda-sles15-sbsa]\nname=cuda-sles15-sbsa\nbaseurl=https://developer.download.nvidia.com/compute/cuda/repos/sles15/sbsa\nenabled=1\ngpgcheck=1\n"

var fileSeeds = []plan.Write{
	{Path: "/etc/modprobe.d/envfix-nouveau.conf", Content: "blacklist nouveau\noptions nouveau modeset=0\n"},
	{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Content: rhel9},
	{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Content: rhel9 + "gpgkey=" + nvidiaRHEL9 + "/CDF6BA43.pub\n"},
	{Path: "/etc/zypp/repos.d/cuda-sles15.repo", Content: sles15},
	{Path: "/etc/apt/sources.list.d/cuda-debian11-sbsa.list", Content: debian11},
	{Path: "/var/lib/envfix/held", Content: "nvidia-driver-580-open\n*nvidia*580*\n"},
}

var hostileLines = []string{"gpgcheck=0", "gpgcheck=1", "enabled=1", "install nouveau /tmp/x", "options nvidia NVreg_x=1", "[evil]", "[cuda-rhel9-x86_64]", "baseurl=https://evil.example/", "# x",
	"gpgkey=https://evil.example/CDF6BA43.pub", "deb [trusted=yes] http://evil.example/ /", "$(x)", "nvidia-open", "", " ", "gpgkey=" + nvidiaRHEL9 + "/x.pub", strings.TrimSuffix(debian11, "\n")}

func drawnFile(rng *rand.Rand) plan.Write {
	w := fileSeeds[rng.IntN(len(fileSeeds))]
	w.Mode = 0o644
	for range rng.IntN(4) {
		other := fileSeeds[rng.IntN(len(fileSeeds))]
		lines := strings.SplitAfter(w.Content, "\n")
		at := rng.IntN(len(lines))
		switch rng.IntN(8) {
		case 0:
			w.Path = other.Path
		case 1:
			w.Content = other.Content
		case 2:
			w.Content = strings.Join(slices.Insert(lines, at, hostileLines[rng.IntN(len(hostileLines))]+"\n"), "")
		case 3:
			w.Content = strings.Join(slices.Delete(lines, at, at+1), "")
		case 4:
			w.Path = broken(rng, w.Path)
		case 5:
			w.Content = broken(rng, w.Content)
		case 6:
			w.Mode = []uint32{0o644, 0o600, 0o4755, 0o666, 0}[rng.IntN(5)]
		case 7:
			w.Content += other.Content
		}
	}
	return w
}

// broken adds or takes away one character.
func broken(rng *rand.Rand, s string) string {
	const odd = "-+.*=:/~_;$# \n\r\x00aZ09"
	if at := rng.IntN(len(s) + 1); rng.IntN(2) == 0 || at == len(s) {
		return s[:at] + string(odd[rng.IntN(len(odd))]) + s[at:]
	} else {
		return s[:at] + s[at+1:]
	}
}

// secondFile reads the rules of files again, without expressions.
func secondFile(w plan.Write) bool {
	if w.Mode != 0o644 {
		return false
	}
	lines := strings.Split(w.Content, "\n")
	ended := lines[len(lines)-1] == ""
	if ended {
		lines = lines[:len(lines)-1]
	}
	const server = "https://developer.download.nvidia.com/compute/cuda/repos/"
	for _, dir := range []string{"/etc/yum.repos.d/cuda-", "/etc/zypp/repos.d/cuda-"} {
		name, ok := strings.CutPrefix(w.Path, dir)
		if repo, is := strings.CutSuffix(name, ".repo"); ok && is {
			if !only(repo, letter+digit) || !ended || len(lines) != 5 && len(lines) != 6 {
				return false
			}
			id := strings.Trim(lines[0], "[]")
			arch := strings.TrimPrefix(id, "cuda-"+repo+"-")
			base := server + repo + "/" + arch
			good := (arch == "x86_64" || arch == "sbsa") && lines[0] == "[cuda-"+repo+"-"+arch+"]" && lines[1] == "name=cuda-"+repo+"-"+arch && lines[2] == "baseurl="+base &&
				lines[3] == "enabled=1" && lines[4] == "gpgcheck=1"
			return good && (len(lines) == 5 || len(lines[5]) == len("gpgkey="+base+"/12345678.pub") && strings.HasPrefix(lines[5], "gpgkey="+base+"/") &&
				strings.HasSuffix(lines[5], ".pub") && only(lines[5][len("gpgkey="+base+"/"):len(lines[5])-4], digit+"ABCDEF"))
		}
	}
	each := func(good func(string) bool) bool {
		return !slices.ContainsFunc(lines, func(l string) bool { return !good(l) })
	}
	switch w.Path {
	case "/etc/modprobe.d/envfix-nouveau.conf":
		return each(func(l string) bool {
			return strings.HasPrefix(l, "#") || l == "blacklist nouveau" || l == "options nouveau modeset=0"
		})
	case "/var/lib/envfix/held":
		return each(func(l string) bool {
			l = strings.TrimPrefix(l, "*")
			return only(l, letter+capital+digit+"+._:*-") && edges(l, letter+capital+digit, l)
		})
	}
	name, ok := strings.CutPrefix(w.Path, "/etc/apt/sources.list.d/cuda-debian")
	name, list := strings.CutSuffix(name, ".list")
	release, arch, _ := strings.Cut(name, "-")
	return ok && list && len(release) == 2 && only(release, digit) && (arch == "x86_64" || arch == "sbsa") && ended && len(lines) == 1 &&
		lines[0] == "deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] "+server+"debian"+release+"/"+arch+"/ /"
}
