package read

import (
	"path"
	"slices"
	"strings"
)

// Imported is what the environment's Python says when it imports torch.
type Imported struct {
	Torch  string   // torch.__version__; "" it did not import
	CUDA   string   // torch.version.cuda; "" none
	Arches []string // torch._C._cuda_getArchFlags(): sm_90, compute_90 …; nil: not said
	Path   string   // torch.__file__
	Mapped []string // the files of CUDA's and torch's libraries that are loaded, without links; nil: not said
	Own    []string // the directories of the environment, as they are named and without links
	GPUs   int      // that torch computed on
	Failed string   // why it did not import
	Late   string   // it did not answer within this time; "" it did
}

// loads is the file that is loaded for a library's name, of several one that is
// not the environment's; "" none is.
func (i *Imported) Loads(name string) string {
	found := ""
	for _, file := range i.Mapped {
		if base := path.Base(file); base != name && !strings.HasPrefix(base, name+".") {
			continue
		}
		if found == "" || !i.Owns(file) {
			found = file
		}
	}
	return found
}

// owns reports whether a file is the environment's.
func (i *Imported) Owns(file string) bool {
	return slices.ContainsFunc(i.Own, func(dir string) bool { return strings.HasPrefix(file, dir+"/") })
}
