package examine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/read"
	"envfix/internal/index"
	"envfix/internal/machine"
)

// Code reads for which GPUs a torch has code that the data has no row of, as one that was built from source, by NVIDIA or by
// conda's makers, from the library by which it answers torch.cuda.get_arch_list.
func Code(c *read.Case) {
	_, known := (&evidence.Evidence{Case: c}).Build()
	foreign := c.Files != nil && len(c.Files.Conda) > 0 || !strings.HasPrefix(c.Torch.Label, "cu")
	nvidia := slices.ContainsFunc(c.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && !g.SM.IsZero() })
	if known && !foreign || !nvidia || c.Torch.CUDA.IsZero() || c.Files == nil || len(c.Files.Imports) == 0 || os.Getenv("ENVFIX_ROOT") != "" {
		return
	}
	library := filepath.Join(filepath.Dir(c.Files.Imports[0].Path), "lib", "libtorch_python.so")
	if i, err := os.Stat(library); err != nil || !i.Mode().IsRegular() {
		return // who loads it says so
	}
	f, err := os.Open(library)
	if err != nil {
		return
	}
	defer f.Close()
	list := index.ArchList(f)
	have := evidence.ArchesOf(strings.Fields(list))
	if len(have.Native) == 0 {
		c.Files.Unseen = append(c.Files.Unseen, "for which GPUs this build of torch has code")
		return
	}
	c.Torch.Arches, c.Torch.PTX, c.Torch.ArchesAt = have.Native, have.PTX, evidence.Fact("%s has code for %s", library, list)
}
