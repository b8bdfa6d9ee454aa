package apply

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/xslices"
)

// Proved is what an environment showed of itself when it was made, kept beside it.
// What it shows less later is a fault of the machine.
type Proved struct {
	Torch string `json:"torch"`           // with its label
	Build string `json:"build,omitempty"` // cu126, cpu, mps …
	GPUs  int    `json:"gpus"`            // that computed
	For   int    `json:"for,omitempty"`   // the GPUs that it was made for, here or as they were described
}

// Computed is how many GPUs of a proof gave the right product.
func (p Proof) Computed() int {
	return len(xslices.Filter(p.GPUs, func(g GPUProof) bool { return g.Error == "" }))
}

// ProvedOf reads what the environment in dir, no link, showed when it was made; nil
// where that was not recorded: an environment that envfix did not make, or made in
// place.
func ProvedOf(dir string) *Proved { return recordOf(dir).Proved }

// WishOf is what was asked for when the environment in dir, no link, was made here, by this
// user, and no file says; nil: nothing. A record that came with a clone decides nothing.
func WishOf(dir string) *plan.Wish {
	if g := recordOf(dir); !g.strange() {
		return g.Wish
	}
	return nil
}

// StrangeWish reports whether there is a wish that [WishOf] leaves out: of another user or
// machine, or of a home that was not kept.
func StrangeWish(dir string) bool { return recordOf(dir).strange() }

func (g Generation) strange() bool { return g.Wish != nil && !MadeHere(g.wishMark()) }

// wishMark is the line in the user's own state that says that a wish was recorded here.
func (g Generation) wishMark() string {
	b, _ := json.Marshal(g.Wish) // plain strings
	return fmt.Sprintf(wishMark+"%s:%x", g.ID, sha256.Sum256(b))
}

// recordOf is what was written down of an environment when it was made.
func recordOf(dir string) (g Generation) {
	f, err := os.Open(dir + ".json")
	if err != nil {
		return g
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil || json.Unmarshal(b, &g) != nil {
		return Generation{}
	}
	return g
}

// Static compares a machine and the files of an environment with what it proved,
// without starting Python: a sentence for each thing that is less. gpus is how many
// must be usable; below 0, as many as were proved.
func Static(p *Proved, gpus int, h machine.Machine, files []machine.DistFiles) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if d := h.Driver; d != nil && !d.LoadedVersion.IsZero() && d.LoadedVersion.Compare(d.Version) != 0 {
		add("the loaded kernel module is %s and the driver's libraries are %s: reboot", d.LoadedVersion, d.Version)
	} else if d != nil && d.NotLoaded {
		add("the kernel module of driver %s is not loaded: `sudo modprobe nvidia`, or reboot", d.Version)
	}
	if gpus < 0 && p != nil {
		gpus = p.GPUs
	}
	usable := len(xslices.Filter(h.GPUs, func(g machine.GPU) bool { return g.Visible && g.Fault == "" && !g.MIGMode }))
	if usable < gpus {
		add("%d of %d GPUs can be used: `envfix doctor` on this machine says why", usable, gpus)
	}
	for _, f := range files {
		switch {
		case f.Absent > 0:
			add("%s %s lacks %d of its files (%s): `envfix apply` builds the environment anew", f.Name, f.Version, f.Absent, inSite(f.Missing[0]))
		case len(f.Resized) > 0:
			add("%s of %s %s has another size than was installed: `envfix apply` builds the environment anew", inSite(f.Resized[0]), f.Name, f.Version)
		}
	}
	return wrong
}

// inSite is a file's path within the packages, where it is in them.
func inSite(path string) string {
	if _, after, ok := strings.Cut(path, "/site-packages/"); ok {
		return after
	}
	return path
}
