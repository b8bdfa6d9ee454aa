package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What torch proved holds where a package comes that torch cannot meet, and in no other case.
func TestTorchStands(t *testing.T) {
	old := map[string]string{"torch/__init__.py": "old", "torch-2.9.0.dist-info/METADATA": "Name: torch\nRequires-Dist: opt-einsum>=3.3; extra == 'opt-einsum'\n",
		"nvidia/cublas/lib.so": "x", "gone/__init__.py": "", "gone-1.dist-info/METADATA": "Name: gone\n", "links.pth": "PLACE/src"}
	for name, tt := range map[string]struct {
		comes string // FILE=CONTENT …
		want  bool
	}{
		"nothing changes":           {"", true},
		"a small package":           {"rich/__init__.py= rich-1.dist-info/METADATA=Name:rich", true},
		"one goes":                  {"gone/__init__.py=- gone-1.dist-info/METADATA=-", true},
		"half of one goes":          {"gone/__init__.py=- gone/other.py=", true},
		"another file of torch":     {"torch/__init__.py=new", false},
		"a file beside torch's":     {"torch/_more.py=", false},
		"a library beside NVIDIA's": {"nvidia/cudnn/lib.so=", false},
		"one that asks for torch":   {"x/__init__.py= x-1.dist-info/METADATA=Requires-Dist:torch>=2", false},
		"one of torch's kin":        {"x/__init__.py= x-1.dist-info/METADATA=Requires-Dist:pytorch-lightning", false},
		"what torch loads":          {"x/__init__.py= x-1.dist-info/entry_points.txt=[torch.backends]", false},
		"what torch looks for":      {"opt_einsum/__init__.py=", false},
		"numpy":                     {"numpy/__init__.py=", false},
		"what each start runs":      {"x.pth=import+x", false},
	} {
		dir := t.TempDir()
		write := func(env, file, content string) {
			path := filepath.Join(dir, env, "lib/python3.12/site-packages", file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(path)
			if content == "-" {
				return
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "PLACE", filepath.Join(dir, env))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for file, content := range old {
			write("was", file, content)
			write("is", file, content)
		}
		for _, one := range strings.Fields(tt.comes) {
			file, content, _ := strings.Cut(one, "=")
			write("is", file, content)
		}
		was, errA := packageFiles(filepath.Join(dir, "was"))
		is, errB := packageFiles(filepath.Join(dir, "is"))
		if got := (amended{was, is}).torchStands(); errA != nil || errB != nil || got != tt.want {
			t.Errorf("%s: %t, %v, %v", name, got, errA, errB)
		}
	}
}
