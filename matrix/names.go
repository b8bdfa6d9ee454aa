package matrix

import (
	"slices"
	"sort"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/near"
	"envfix/internal/xslices"
)

type modelName struct {
	words  []string // normalised, without vendor words
	device Device
}

// LookupName finds the devices that a name may mean: "RTX 5090", "V100", "1080
// Ti", "H100 80GB HBM3", "NVIDIA GeForce RTX 4090 Laptop GPU". Case, vendor
// words, memory sizes and form factors do not matter. One device per different
// capability comes back, the newest first: more than one means that the name
// alone does not say which GPU it is; none, that nobody knows the name. A board
// that only pci.ids has does not make a name unclear that NVIDIA's lists give to
// another: [DeviceTable.Namesakes] has it.
func (t *DeviceTable) LookupName(name string) []Device {
	listed, _ := t.lookupName(name)
	return listed
}

// Namesakes are the boards of a name that LookupName leaves aside: a GTX 750 Ti is a
// GM107, and once was an OEM's GK106.
func (t *DeviceTable) Namesakes(name string) []Device {
	_, aside := t.lookupName(name)
	return aside
}

func (t *DeviceTable) lookupName(name string) (listed, aside []Device) {
	found := t.allNamed(name)
	unlisted := func(d Device) bool { return d.Unlisted }
	if listed = slices.DeleteFunc(slices.Clone(found), unlisted); len(listed) == 0 {
		return found, nil
	}
	return listed, xslices.Filter(found, unlisted)
}

func (t *DeviceTable) allNamed(name string) []Device {
	if len(name) > 200 {
		return nil
	}
	words := nameWords(bare(name))
	if len(words) == 0 {
		return otherVendor(name, words)
	}
	key := keyWord(words)
	for range 2 {
		names := t.models(key)
		for _, match := range []func([]string, []string) bool{sameWords, sameModel, withinModel, withinPro, sameBoard, withoutArch, sameStem, sameCore} {
			if found := find(names, words, match); len(found) > 0 {
				return found
			}
		}
		if key = strings.TrimRight(key, "abcdefghijklmnopqrstuvwxyz"); len(key) < 3 {
			break // V100D is a V100: once more without the letter
		}
	}
	return otherVendor(name, words)
}

// bare drops what lspci and nvidia-smi print around a name: the chip before
// brackets, the revision, the UUID.
func bare(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		if inside, _, ok := strings.Cut(name[i+1:], "]"); ok && len(nameWords(inside)) > 0 {
			return inside
		}
	}
	lower := strings.ToLower(name)
	for _, tail := range []string{"(rev", "(uuid"} {
		if i := strings.Index(lower, tail); i >= 0 && i <= len(name) {
			name, lower = name[:i], lower[:i]
		}
	}
	return name
}

// find returns the devices of the names that match, one per capability.
func find(names []modelName, words []string, match func(query, name []string) bool) []Device {
	var out []Device
	for _, n := range names {
		if !match(words, n.words) {
			continue
		}
		i := slices.IndexFunc(out, func(d Device) bool { return sameAnswer(d, n.device) })
		switch {
		case i < 0:
			out = append(out, n.device)
		case out[i].Unlisted && !n.device.Unlisted, out[i].Unlisted == n.device.Unlisted && plainer(n.device.Name, out[i].Name):
			out[i] = n.device
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[j].SM.Less(out[i].SM) })
	return out
}

// plainer: of names that say the same, the one that a driver prints: NVIDIA
// first, then the shorter.
func plainer(a, b string) bool {
	pa, pb := strings.HasPrefix(a, "NVIDIA "), strings.HasPrefix(b, "NVIDIA ")
	return pa && !pb || pa == pb && len(a) < len(b)
}

// sameAnswer: two models between which nothing that envfix decides differs.
func sameAnswer(a, b Device) bool {
	return a.Vendor == b.Vendor && a.SM == b.SM && a.GFX == b.GFX && a.XPU == b.XPU &&
		a.LastBranch == b.LastBranch && slices.Equal(a.Modules, b.Modules)
}

// noise are words that tell nothing about the model.
var noise = map[string]bool{
	"nvidia": true, "corporation": true, "geforce": true, "tesla": true, "graphics": true, "gpu": true, "card": true,
	"the": true, "generation": true, "edition": true, "r": true, "tm": true, "design": true, "with": true, "device": true,
	"amd": true, "ati": true, "advanced": true, "micro": true, "devices": true, "inc": true, "radeon": true,
	"intel": true, "apple": true, "core": true, "tensor": true, "data": true, "center": true, "instinct": true, "vga": true,
	"lhr": true, "lite": true, "hash": true, "rate": true, "superchip": true,
}

// aliasWords are spellings of one word.
var aliasWords = map[string]string{"mobile": "laptop", "notebook": "laptop", "maxq": "max-q", "supers": "super", "workst": "workstation"}

// nameWords lowers a name, splits it into words ("RTX5090" is two, "1080Ti" too)
// and drops what says nothing.
func nameWords(name string) []string {
	name = strings.ReplaceAll(strings.ToLower(name), "max-q", "maxq")
	name = strings.ReplaceAll(name, "mx ", "mx") // MX 450
	raw := strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	var out []string
	for _, w := range raw {
		for _, part := range splitWord(w) {
			if a, ok := aliasWords[part]; ok {
				part = a
			}
			if !noise[part] {
				out = append(out, part)
			}
		}
	}
	return out
}

// splitWord parts a series from its number and a number from its rank: rtx5090,
// 1080ti, rtx3060ti, 4070tisuper. Model words such as a100 or k40c stay whole.
func splitWord(w string) []string {
	for _, brand := range []string{"geforce", "tesla", "quadro", "radeon"} {
		if rest, ok := strings.CutPrefix(w, brand); ok && rest != "" {
			return append([]string{brand}, splitWord(rest)...)
		}
	}
	for _, series := range []string{"rtx", "gtx", "gts", "gt", "rx", "titan"} {
		rest, ok := strings.CutPrefix(w, series)
		if ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return append([]string{series}, splitWord(rest)...)
		}
	}
	digits := strings.TrimLeft(w, "0123456789")
	number := w[:len(w)-len(digits)]
	if len(number) < 3 {
		return []string{w}
	}
	switch digits {
	case "ti", "super", "xt", "xtx", "gre", "laptop", "ada", "d":
		return []string{number, digits}
	case "tisuper":
		return []string{number, "ti", "super"}
	case "laptopgpu", "mobile":
		return []string{number, "laptop"}
	case "tilaptop", "tilaptopgpu", "timobile":
		return []string{number, "ti", "laptop"}
	}
	return []string{w}
}

// isMemory: 80gb, 12g, hbm3, gddr6: how much of it, not which model. A MIG
// profile (1g.10gb) and that of a virtual GPU (24q) are such words too.
func isMemory(w string) bool {
	if strings.HasPrefix(w, "hbm") || strings.HasPrefix(w, "gddr") || strings.HasPrefix(w, "ddr") || strings.HasPrefix(w, "lpddr") || w == "mig" ||
		w == "gb" ||
		w == "vram" {
		return true
	}
	unit := strings.TrimLeft(w, "0123456789")
	return len(unit) < len(w) && (unit == "gb" || unit == "g" || unit == "gib" || unit == "mb" || unit == "q" || unit == "c" || unit == "b")
}

// isForm: how the board is attached.
func isForm(w string) bool {
	return strings.HasPrefix(w, "sxm") || w == "pcie" || w == "pci" || strings.HasPrefix(w, "nvl") || w == "oam" || w == "e" || w == "hgx" || w == "dgx" ||
		w == "oem"
}

// isLine: words of product lines that people leave out.
func isLine(w string) bool {
	switch w {
	case "rtx", "gtx", "gts", "gt", "rx", "quadro", "jetson", "agx", "nx", "nano", "drive", "grid", "server", "workstation", "max-q",
		"arc", "cmp", "dev", "kit", "developer", "series":
		return true
	}
	return isArch(w) && w != "grace"
}

// isBoard: words that change the board, not the chip's generation.
func isBoard(w string) bool { return w == "laptop" || w == "max-q" || w == "super" || w == "ti" }

func without(words []string, drop ...func(string) bool) []string {
	return xslices.Filter(words, func(w string) bool { return !slices.ContainsFunc(drop, func(f func(string) bool) bool { return f(w) }) })
}

func sameWords(q, n []string) bool { return slices.Equal(q, n) }

// sameModel: equal but for memory and form factor.
func sameModel(q, n []string) bool {
	q, n = without(q, isMemory, isForm), without(n, isMemory, isForm)
	return len(q) > 0 && slices.Equal(q, n)
}

// withinModel: the name has every word of the query, and more only of product
// lines: "A6000" is RTX A6000, "RTX PRO 6000" one of its editions.
func withinModel(q, n []string) bool {
	q, n = without(q, isMemory, isForm), without(n, isMemory, isForm)
	if len(q) == 0 || !slices.ContainsFunc(q, func(w string) bool { return !isLine(w) && !isBoard(w) }) {
		return false
	}
	return !slices.ContainsFunc(n, func(w string) bool { return !slices.Contains(q, w) && !isLine(w) }) &&
		!slices.ContainsFunc(q, func(w string) bool { return !slices.Contains(n, w) })
}

// withinPro: as withinModel, with PRO left out: "RTX 4500" is RTX PRO 4500.
func withinPro(q, n []string) bool {
	isPro := func(w string) bool { return w == "pro" }
	return withinModel(without(q, isPro), without(n, isPro))
}

// sameBoard: as withinModel, with laptop, Max-Q, Ti and Super aside on both sides:
// boards of one number are of one generation.
func sameBoard(q, n []string) bool {
	hasNumber := func(w string) bool { return len(strings.TrimLeft(w, "0123456789")) == 0 && len(w) >= 3 }
	return slices.ContainsFunc(q, hasNumber) && withinModel(without(q, isBoard), without(n, isBoard))
}

// sameStem: the model word begins so: "K40" is K40c, K40m or K40s; "V100" V100S.
func sameStem(q, n []string) bool {
	q, n = without(q, isMemory, isForm, isLine), without(n, isMemory, isForm, isLine)
	if len(q) != 1 || len(n) != 1 || len(q[0]) < 2 {
		return false
	}
	rest, ok := strings.CutPrefix(n[0], q[0])
	return ok && len(rest) == 1 && rest[0] >= 'a'
}

// withoutArch: the query names the generation as well, "TITAN X Maxwell".
func withoutArch(q, n []string) bool {
	rest := without(q, isArch)
	return len(rest) < len(q) && withinModel(rest, without(n, isArch))
}

func isArch(w string) bool {
	switch w {
	case "maxwell", "pascal", "volta", "turing", "ampere", "hopper", "blackwell", "grace":
		return true
	}
	return false
}

// sameCore: the name is one word of the query, and the others tell no other
// model: "GH200 Grace Hopper"; or it is that word but for a letter, "V100D".
func sameCore(q, n []string) bool {
	q, n = without(q, isMemory, isForm, isLine), without(n, isMemory, isForm, isLine)
	if len(n) != 1 || len(n[0]) < 2 {
		return false
	}
	found := false
	for _, w := range q {
		rest, ok := strings.CutPrefix(w, n[0])
		switch {
		case ok && (rest == "" || len(rest) == 1 && rest[0] >= 'a'):
			found = true
		case strings.ContainsAny(w, "0123456789"):
			return false
		}
	}
	return found
}

// Unsaid returns the words of a name that a device found by it does not bear: near,
// those that tell boards of one number apart, or a model's letter (the "ti" of "4090
// Ti", where no list has that board); and foreign, all others.
func Unsaid(name string, d Device) (near, foreign []string) {
	own := nameWords(bare(d.Name))
	for _, w := range without(nameWords(bare(name)), isMemory, isForm, isLine, isArch) {
		begins := func(o string) bool { return strings.HasPrefix(w, o) || strings.HasPrefix(o, w) }
		switch {
		case slices.Contains(own, w), d.SM.IsZero() && d.GFX == "", d.Line != "" && w == d.Line:
		case isBoard(w), slices.ContainsFunc(own, begins):
			near = append(near, w)
		default:
			foreign = append(foreign, w)
		}
	}
	return near, foreign
}

// otherVendor recognises GPUs of other vendors that the table does not list: the
// vendor is known, the model is not.
func otherVendor(name string, words []string) []Device {
	lower := strings.ToLower(name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(lower, p) })
	}
	switch {
	case len(words) > 0 && len(words[0]) == 2 && words[0][0] == 'm' && words[0][1] >= '1' && words[0][1] <= '9' && len(without(words, isAppleWord)) == 1:
		return []Device{{Vendor: machine.Apple, Name: name}}
	case has("radeon", "instinct", "firepro", "amd") || slices.Contains(words, "rx"):
		return []Device{{Vendor: machine.AMD, Name: name}}
	case has("intel", "iris", "uhd graphics", "hd graphics"):
		return []Device{{Vendor: machine.Intel, Name: name}}
	}
	return nil
}

func isAppleWord(w string) bool { return w == "pro" || w == "max" || w == "ultra" }

// Nearest returns the n known names that are most like one: for "unknown GPU"
// messages. NVIDIA's are preferred among equals.
func (t *DeviceTable) Nearest(name string, n int) []string {
	query := strings.Join(nameWords(name), " ")
	if len(query) > 60 {
		query = query[:60]
	}
	type scored struct {
		name     string
		distance int
	}
	var all []scored
	for _, m := range t.models("") {
		if m.device.Vendor == machine.NVIDIA && m.device.SM.IsZero() {
			continue // older than CUDA: nobody means those
		}
		all = append(all, scored{m.device.Name, near.Distance(query, strings.Join(m.words, " "))})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].distance < all[j].distance })
	var out []string
	for _, s := range all {
		if len(out) == n {
			break
		}
		out = xslices.Add(out, s.name)
	}
	return out
}
