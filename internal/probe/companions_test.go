package probe

import (
	"slices"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testelf"
)

// TestCompanions: machine code that torchvision needs, and torch does not, is what the loader takes.
func TestCompanions(t *testing.T) {
	for name, image := range map[string][]byte{
		"":                                     testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{"libc.so.6"}}),
		"it is for another processor, aarch64": testelf.Library(testelf.AArch64, testelf.Dynamic{}),
	} {
		root := loaderTree(t)
		write(t, root+"/lib/libc.so.6", testelf.Library(testelf.X86_64, testelf.Dynamic{SOName: "libc.so.6"}), 0o755)
		for dist, text := range map[string]string{"torchvision-0.30.0": "Name: torchvision\nVersion: 0.30.0\nRequires-Dist: pillow\n", "pillow-13.0.0": "Name: pillow\nVersion: 13.0.0\n"} {
			write(t, root+site+"/"+dist+".dist-info/METADATA", []byte(text), 0o644)
			write(t, root+site+"/"+dist+".dist-info/RECORD", []byte("PIL/_imaging.cpython-312-x86_64-linux-gnu.so,,\n"), 0o644)
		}
		write(t, root+site+"/PIL/_imaging.cpython-312-x86_64-linux-gnu.so", image, 0o755)
		f := EnvFiles(Options{Root: root, OS: "linux", Venv: "/env", Named: true})
		i := slices.IndexFunc(f.Links, func(l machine.LinkFault) bool { return l.Dist == "pillow" })
		if (i < 0) != (name == "") || i >= 0 && f.Links[i].Why != name {
			t.Errorf("%q: %+v", name, f.Links)
		}
	}
}
