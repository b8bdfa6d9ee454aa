package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// carried is an environment with much in it.
func carried() *plan.Keep {
	c := &plan.Keep{From: ".venv", Changes: []plan.Change{{Name: "torch", From: "2.4.0+cu121", To: "2.14.1+cu126"}, {Name: "torchvision", From: "0.19.0+cu121", To: "0.29.1+cu126"},
		{Name: "xformers", From: "0.0.27.post1", Why: "it needs torch==2.4.0; the installer finds another"}}}
	for _, name := range []string{"cublas", "cudnn", "nccl", "nvtx"} {
		c.Changes = append(c.Changes, plan.Change{Name: "nvidia-" + name + "-cu12", From: "12.1", Why: "as torch needs it"})
	}
	for i := range 12 {
		c.Stays = append(c.Stays, plan.KeptPackage{Name: fmt.Sprintf("package-%02d", i), Version: "1.0", Copied: i != 3, Python: i == 3})
		c.Leaves = append(c.Leaves, plan.Dropped{Name: fmt.Sprintf("pinned-%02d", i), Version: "1.0", Why: "needs torch==2.4.0"})
		c.Known = append(c.Known, plan.Complaint{Text: fmt.Sprintf("package-%02d 1.0 needs numpy>=2.0.2, and 1.26.4 is installed", i)})
	}
	c.Stays = append(c.Stays, plan.KeptPackage{Name: "sympy", Version: "1.12", Loose: true, Copied: true}, plan.KeptPackage{Name: "mine", Version: "0.1", From: "-e file:///home/me/a-rather-long-directory/of/projects/and/more/mine"})
	c.Leaves = append(c.Leaves, plan.Dropped{Name: "~orch", Why: "what an interrupted \x1b[31minstallation left"})
	return c
}

// What becomes of the packages fits the width, folded and whole.
func TestCarry(t *testing.T) {
	for name, carry := range map[string]func(*view, *plan.Keep){"carry": (*view).briefPackages, "carry_verbose": (*view).carry} {
		v := &view{}
		carry(v, carried())
		carry(v, nil)
		carry(v, &plan.Keep{From: ".venv"})
		carry(v, &plan.Keep{From: ".venv", Why: "`--fresh`: the 2 packages that it holds are left behind"})
		got := v.b.String()
		for line := range strings.Lines(got) {
			if columns(line) > Width+1 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d columns: %s", name, columns(line), line)
			}
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Error(diff)
		}
	}
}
