package matrix

import (
	"fmt"
	"strings"
	"testing"
)

// published is which builds PyTorch's previous versions page has a pip command
// for, and which a conda command.
const published = `
1.12.0 cu102 cu113 cu116 cpu rocm5.1.1 | cu102 cu113 cu116 cpu
1.12.1 cu102 cu113 cu116 cpu rocm5.1.1 | cu102 cu113 cu116 cpu
1.13.0 cu116 cu117 cpu rocm5.2 | cu116 cu117 cpu
1.13.1 cu116 cu117 cpu rocm5.2 | cu116 cu117 cpu
2.0.0 cu117 cu118 cpu rocm5.4.2 | cu117 cu118 cpu
2.0.1 cu117 cu118 cpu rocm5.4.2 | cu117 cu118 cpu
2.1.0 cu118 cu121 cpu rocm5.6 | cu118 cu121 cpu
2.1.1 cu118 cu121 cpu rocm5.6 | cu118 cu121 cpu
2.1.2 cu118 cu121 cpu rocm5.6 | cu118 cu121 cpu
2.2.0 cu118 cu121 cpu rocm5.6 | cu118 cu121 cpu
2.2.1 cu118 cu121 cpu rocm5.7 | cu118 cu121 cpu
2.2.2 cu118 cu121 cpu rocm5.7 | cu118 cu121 cpu
2.3.0 cu118 cu121 cpu rocm6.0 | cu118 cu121 cpu
2.3.1 cu118 cu121 cpu rocm6.0 | cu118 cu121 cpu
2.4.0 cu118 cu121 cu124 cpu rocm6.1 | cu118 cu121 cu124 cpu
2.4.1 cu118 cu121 cu124 cpu rocm6.1 | cu118 cu121 cu124 cpu
2.5.0 cu118 cu121 cu124 cpu rocm6.1 rocm6.2 | cu118 cu121 cu124 cpu
2.5.1 cu118 cu121 cu124 cpu rocm6.1 rocm6.2 | cu118 cu121 cu124 cpu
2.6.0 cu118 cu124 cu126 cpu rocm6.1 rocm6.2.4 |
2.7.0 cu118 cu126 cu128 cpu rocm6.3 |
2.7.1 cu118 cu126 cu128 cpu rocm6.3 |
2.8.0 cu126 cu128 cu129 cpu rocm6.4 |
2.9.0 cu126 cu128 cu130 cpu rocm6.4 |
2.9.1 cu126 cu128 cu130 cpu rocm6.4 |
2.10.0 cu126 cu128 cu130 cpu rocm7.1 |
2.11.0 cu126 cu128 cu130 cpu rocm7.2 |
2.12.0 cu126 cu130 cu132 cpu rocm7.2 |
`

// TestPublished: every command of the page is there, for Linux and Windows
// alike (ROCm: Linux), and for macOS.
func TestPublished(t *testing.T) {
	m := embedded(t)
	n := 0
	ask := func(torch, build, os, tool string) {
		n++
		argv, err := InstallCommand(m, torch, build, os, tool)
		if err != nil {
			t.Error(err)
			return
		}
		if line := strings.Join(argv, " "); strings.Contains(line, "{") || strings.Contains(line, "== ") || strings.HasSuffix(line, "==") {
			t.Errorf("%s %s: %s", torch, build, line)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(published)) {
		pip, conda, _ := strings.Cut(strings.TrimSpace(line), "|")
		words := strings.Fields(pip)
		for _, build := range words[1:] {
			ask(words[0], build, "linux", "pip")
			if !strings.HasPrefix(build, "rocm") {
				ask(words[0], build, "windows", "pip")
			}
		}
		ask(words[0], "mps", "macos", "pip")
		for _, build := range strings.Fields(conda) {
			ask(words[0], build, "linux", "conda")
			ask(words[0], build, "windows", "conda")
		}
		if conda != "" {
			ask(words[0], "mps", "macos", "conda")
		}
	}
	t.Logf("%d commands", n)
}

func TestInstallCommand(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct{ torch, build, os, tool, want string }{
		{"2.9.1", "cu126", "linux", "pip", "pip install torch==2.9.1 torchvision==0.24.1 torchaudio==2.9.1 --index-url https://download.pytorch.org/whl/cu126"},
		{"2.12.0", "cu132", "windows", "pip", "pip install torch==2.12.0 torchvision==0.27.0 --index-url https://download.pytorch.org/whl/cu132"},
		{"2.0.1", "cu117", "linux", "pip", "pip install torch==2.0.1 torchvision==0.15.2 torchaudio==2.0.2"},
		{"2.0.0", "cu118", "linux", "conda", "conda install pytorch==2.0.0 torchvision==0.15.0 torchaudio==2.0.0 pytorch-cuda=11.8 -c pytorch -c nvidia"},
		{"1.13.1", "cu116", "linux", "pip", "pip install torch==1.13.1+cu116 torchvision==0.14.1+cu116 torchaudio==0.13.1 --extra-index-url https://download.pytorch.org/whl/cu116"},
		{"1.12.1", "cu116", "linux", "conda", "conda install pytorch==1.12.1 torchvision==0.13.1 torchaudio==0.12.1 cudatoolkit=11.6 -c pytorch -c conda-forge"},
		{"2.11.0", "mps", "macos", "pip", "pip install torch==2.11.0 torchvision==0.26.0 torchaudio==2.11.0"},

		{"2.9.1", "cu129", "linux", "pip", "error: torch 2.9.1 has no pip command for cu129 on linux; there are cpu, cu130, cu128, cu126, rocm6.3, rocm6.4, xpu"},
		{"2.6.0", "cu124", "linux", "conda", "error: torch 2.6.0 has no conda command for cu124 on linux; there are none"},
		{"2.9.1", "rocm6.4", "windows", "pip", "error: no pip command is published for torch 2.9.1, rocm6.4 on windows; there are cpu, cu130, cu128, cu126, xpu"},
		{"3.0.0", "cpu", "linux", "pip", "error: torch 3.0.0 is not in the matrix; it knows 1.12.0 to " + m.Releases[0].Torch.String()},
	} {
		argv, err := InstallCommand(m, c.torch, c.build, c.os, c.tool)
		got := strings.Join(argv, " ")
		if err != nil {
			got = fmt.Sprint("error: ", err)
		}
		if got != c.want {
			t.Errorf("%s %s %s %s:\ngot  %s\nwant %s", c.torch, c.build, c.os, c.tool, got, c.want)
		}
	}
}
