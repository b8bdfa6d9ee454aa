package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/xslices"
)

// ofNVIDIA is what names of its cards hold, whatever follows.
var ofNVIDIA = lazy.Regexp(`(?i)nvidia|GeForce|Tesla|Quadro`)

// supportList finds what a message says is wanted: those GPUs are not here.
var supportList = lazy.Regexp(`(?i)only (?:supported|available|implemented) (?:on|for)\b|\bor ROCm\b|or (?:newer|` +
	`later|above|higher)\b`)

// addGPU notes a GPU of a list: such a list names every one.
func (r *Reader) addGPU(name string, s Evidence) {
	name = strings.TrimSpace(strings.TrimRight(name, ".| "))
	if strings.HasPrefix(name, "Could not") || name == "No CUDA" || name == "" || len(name) > 80 {
		return
	}
	if !r.k.Reads("names").MatchString(name) && !ofNVIDIA().MatchString(name) {
		return
	}
	if uuid := strings.Contains(s.Text, "(UUID"); !r.c.Listed || uuid && !r.uuids {
		r.uuids = uuid
		r.c.Listed, r.c.Machine.GPUs = true, nil
	}
	if len(r.c.Machine.GPUs) < 64 {
		r.c.Machine.GPUs = append(r.c.Machine.GPUs, newGPU(name, len(r.c.Machine.GPUs)))
		r.say(&r.c.From.GPU, s)
	}
}

// names notes the GPUs that a line of running text names. Where it says of some
// that they work, it is about the others.
func (r *Reader) names(first string, s Evidence) {
	at := r.k.Reads("names").FindAllStringIndex(head(r.whole, 400), 6)
	var failing []string
	for _, i := range at {
		before, after := r.whole[:i[0]], r.whole[i[1]:]
		if fineBefore().MatchString(before) && !notBefore().MatchString(before) || fineAfter().MatchString(after) {
			continue
		}
		failing = append(failing, r.whole[i[0]:i[1]])
	}
	if len(failing) == 0 || len(failing) == len(at) {
		r.named(first, s)
		return
	}
	for _, name := range failing {
		r.named(name, s)
	}
}

// What is said of a GPU beside its name.
var (
	fineBefore = lazy.Regexp(`(?i)\b(?:works?|worked|working|runs?|ran|fine|ok|succeeds?)(?: \w+)?(?: on| with|` +
		` for)?(?: an?| my| the| our| one)?(?: nvidia)?(?: geforce)? ?$`)
	notBefore = lazy.Regexp(`(?i)(?:\bnot|n't|never|no longer|fails? to|cannot) (?:\w+ ){0,2}(?:on|with|` +
		`for)?(?: \w+)* ?$`)
	fineAfter = lazy.Regexp(`(?i)^\W{0,3}(?:it |that )?(?:works?|worked|runs?|is|was|all)(?: \w+)? ?(?:fine|ok|` +
		`well|without|good|[,;.)]|$)`)
)

// named notes a GPU that running text names.
func (r *Reader) named(text string, s Evidence) {
	name := r.k.Reads("names").FindString(text)
	if name == "" || supportList().MatchString(text) || r.c.Listed || len(r.c.Machine.GPUs) > 8 {
		return
	}
	g := newGPU(name, len(r.c.Machine.GPUs))
	for i, o := range r.c.Machine.GPUs {
		if strings.EqualFold(o.Name, g.Name) || !g.SM.IsZero() && o.SM == g.SM {
			return
		}
		if same := wholeName(o.Name, g.Name); same != "" { // "a 5080", and its whole name later
			r.c.Machine.GPUs[i].Name = same
			return
		}
	}
	r.c.Machine.GPUs = append(r.c.Machine.GPUs, g)
	r.say(&r.c.From.GPU, s)
}

// squeezed is a name as one compares it: people write 1080Ti, 1080 ti and 1080 Ti.
func squeezed(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

// wholeName is the longer of two names of which one ends in the other; "" where neither does.
func wholeName(a, b string) string {
	if len(a) < len(b) {
		a, b = b, a
	}
	if b != "" && (strings.HasSuffix(strings.ToLower(a), " "+strings.ToLower(b)) ||
		b[0] >= '0' && b[0] <= '9' && strings.HasSuffix(squeezed(a), "x"+squeezed(b))) { // GTX 1080 Ti, 1080Ti
		return a
	}
	return ""
}

// pci notes a GPU of lspci.
func (r *Reader) pci(text string, s Evidence) {
	lower := strings.ToLower(text)
	g := newGPU(text, len(r.c.Machine.GPUs))
	switch {
	case strings.Contains(lower, "nvidia"):
		g.Vendor = machine.NVIDIA
	case strings.Contains(lower, "amd") || strings.Contains(lower, "ati "):
		g.Vendor = machine.AMD
	case strings.Contains(lower, "intel"):
		g.Vendor = machine.Intel
	default:
		return
	}
	r.say(&r.c.From.Bus, s)
	if g.Vendor == machine.NVIDIA {
		r.c.Bus = append(r.c.Bus, strings.TrimSpace(text))
		if r.c.Listed {
			return // nvidia-smi named those it drives
		}
	}
	g.Evidence = machine.FromPCI
	r.c.Machine.GPUs = append(r.c.Machine.GPUs, g)
	r.say(&r.c.From.GPU, s)
}

// pciID notes a GPU that the kernel names by its PCI id alone.
func (r *Reader) pciID(id string, s Evidence) {
	unnamed := func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && (g.PCIID == "" || g.PCIID == id) }
	if g := xslices.At(r.c.Machine.GPUs, unnamed); g != nil {
		g.PCIID = id
		return
	}
	r.c.Machine.GPUs = append(r.c.Machine.GPUs,
		machine.GPU{Index: len(r.c.Machine.GPUs), Vendor: machine.NVIDIA, PCIID: id, Evidence: machine.FromPCI})
	r.say(&r.c.From.GPU, s)
}

// capability sets the compute capability of a GPU, by name where one is given.
func (r *Reader) capability(name, capability string, s Evidence) {
	sm, err := machine.ParseSM(capability)
	if err != nil {
		return
	}
	name = strings.TrimSpace(name[strings.LastIndex(name, ": ")+1:])
	r.say(&r.c.From.Capability, s)
	for i := range r.c.Machine.GPUs {
		if g := &r.c.Machine.GPUs[i]; name == "" && len(r.c.Machine.GPUs) == 1 || name != "" &&
			strings.Contains(squeezed(name), squeezed(g.Name)) || g.SM == sm {
			g.SM = sm
			return
		}
	}
	g := newGPU(name, len(r.c.Machine.GPUs))
	g.SM, g.Vendor = sm, machine.NVIDIA
	r.c.Machine.GPUs = append(r.c.Machine.GPUs, g)
	r.say(&r.c.From.GPU, s)
}

func (r *Reader) gfx(gfx string, s Evidence) {
	r.say(&r.c.From.GFX, s)
	if g := xslices.At(r.c.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.AMD && g.GFX == "" }); g != nil {
		g.GFX = gfx
		return
	}
	if len(r.c.Machine.GPUs) == 0 {
		r.c.Machine.GPUs = append(r.c.Machine.GPUs,
			machine.GPU{Vendor: machine.AMD, Name: "AMD " + gfx, GFX: gfx, Visible: true})
	}
}

// used takes memory that people copied out of nvidia-smi.
func (r *Reader) used(used, total string, s Evidence) {
	if !strings.HasPrefix(strings.TrimSpace(s.Text), "|") && len(r.c.Used) < 64 {
		r.c.Used = append(r.c.Used, Usage{GPU: -1, Bytes: mebibytes(used), Total: mebibytes(total), At: s})
	}
}

func mebibytes(s string) int64 {
	var n int64
	for _, c := range head(s, 9) {
		n = n*10 + int64(c-'0')
	}
	return n << 20
}

// newGPU is a GPU known by its name alone.
func newGPU(name string, index int) machine.GPU {
	g := machine.GPU{Index: index, Name: strings.TrimSpace(name), Visible: true}
	lower := strings.ToLower(name)
	switch {
	case strings.Contains(lower, "radeon") || strings.Contains(lower, "instinct") ||
		strings.Contains(lower, "amd") || amdName().MatchString(name):
		g.Vendor = machine.AMD
	case strings.Contains(lower, "intel") || strings.HasPrefix(lower, "arc "):
		g.Vendor = machine.Intel
	case strings.Contains(lower, "apple") || appleName().MatchString(name):
		g.Vendor, g.Integrated = machine.Apple, true
	default:
		g.Vendor = machine.NVIDIA
	}
	return g
}

var (
	amdName   = lazy.Regexp(`(?i)\b(RX|R[579]) ?\d{3,5}|\bMI ?\d{2,3}|\bW\d{4}\b|\bstrix\b|\bRyzen AI\b|^[5-9]\d[05]0 ?XT|\b[5-9]\d[05]0 ?(?:XTX?|GRE)\b`)
	appleName = lazy.Regexp(`(?i)^M[1-5]\b`)
)
