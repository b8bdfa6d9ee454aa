package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkEnvFiles reads an environment of 60 packages, one of them torch with
// the 12,400 files in 1,100 directories of its wheel of 2.15.
func BenchmarkEnvFiles(b *testing.B) {
	root := b.TempDir()
	put := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(root+name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(root+name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	put("/env/pyvenv.cfg", "version = 3.12.4\n")
	put("/env/bin/python3", "")
	for i := range 59 {
		name := fmt.Sprintf("nvidia_part%d_cu12", i)
		put(fmt.Sprintf("%s/%s-1.0.dist-info/METADATA", site, name), fmt.Sprintf("Name: %s\nVersion: 1.0\n", name))
		put(fmt.Sprintf("%s/%s-1.0.dist-info/RECORD", site, name), fmt.Sprintf("%s-1.0.dist-info/METADATA,,\n%s-1.0.dist-info/RECORD,,\n", name, name))
	}
	var record strings.Builder
	for dir := range 1100 {
		for file := range 12400 / 1100 {
			name := fmt.Sprintf("torch/d%d/f%d.h", dir, file)
			put(site+"/"+name, "")
			fmt.Fprintf(&record, "%s,sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,0\n", name)
		}
	}
	put(site+"/torch/__init__.py", "")
	put(site+"/torch-2.15.0.dist-info/METADATA", "Name: torch\nVersion: 2.15.0\n")
	put(site+"/torch-2.15.0.dist-info/RECORD", record.String()+"torch-2.15.0.dist-info/RECORD,,\n")
	o := Options{Root: root, OS: "linux", Venv: "/env", Named: true}
	for b.Loop() {
		if f := EnvFiles(o); len(f.Dists) != 60 {
			b.Fatal(len(f.Dists))
		}
	}
}
