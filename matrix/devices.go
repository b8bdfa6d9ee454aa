package matrix

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"envfix/data"
	"envfix/internal/compiled"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// A Device is one GPU model.
type Device struct {
	Vendor     string // machine.NVIDIA, AMD, Intel, Apple
	PCI        string // 10de:1db5; "" where only the name is known
	Subsystem  string // 10de:1249; "" any
	Name       string
	Chip       string     // GV100; Intel: the generation
	Arch       string     // Volta
	SM         machine.SM // zero: not NVIDIA's, or before CUDA, or not published
	LastBranch int        // last driver branch that drives it; 0: still driven
	Modules    []string   // kernel modules that can drive it: open, proprietary; nil: not known, or Jetson's own
	Line       string     // geforce, workstation, data center, jetson …; "" unknown
	GFX        string     // AMD's target; "" unknown
	XPU        bool       // Intel: PyTorch's XPU builds serve it
	XPUWhere   []string   // linux, windows, wsl2
	Unlisted   bool       // its name is from pci.ids alone: no list of NVIDIA's has this board
}

// A DeviceTable is the table of GPU models. It reads its text only as far as a
// question needs.
type DeviceTable struct {
	text, lower   string // devices.tsv, and in lower case
	names, lnames string // names.tsv

	chips map[string]Device // by name of the chip row
	xpu   map[string]Device // by generation
}

// deviceForm is a DeviceTable as it is compiled. The text in lower case is made from
// it: a tenth of a millisecond, where the web page would load it.
type deviceForm struct {
	Text, Names string
	Chips, XPU  map[string]Device
}

// Devices returns the table that the program was built with.
func Devices() *DeviceTable {
	var f deviceForm
	mustRead(compiled.Decode(data.Devices, &f))
	return &DeviceTable{f.Text, lowerASCII(f.Text), f.Names, lowerASCII(f.Names), f.Chips, f.XPU}
}

// CompileDevices returns the compiled form of the device table of these files.
func CompileDevices(fsys fs.FS) ([]byte, error) {
	t, err := LoadDevices(fsys)
	if err != nil {
		return nil, err
	}
	return compiled.Encode(deviceForm{t.text, t.names, t.chips, t.xpu}, sha256.Sum256([]byte(t.text+t.names))), nil
}

// LoadDevices reads a device table. Only its first few rows are parsed: the
// thousands of ids are searched as text.
func LoadDevices(fsys fs.FS) (*DeviceTable, error) {
	text, err := readFile(fsys, "devices.tsv")
	if err != nil {
		return nil, fmt.Errorf("data/devices.tsv: %w", err)
	}
	names, err := readFile(fsys, "names.tsv")
	if err != nil {
		return nil, fmt.Errorf("data/names.tsv: %w", err)
	}
	t := &DeviceTable{text: string(text), names: string(names), chips: map[string]Device{}, xpu: map[string]Device{}}
	t.lower, t.lnames = lowerASCII(t.text), lowerASCII(t.names)
	line := 0
	for row := range strings.Lines(t.text) {
		line++
		if err := t.head(strings.Split(strings.TrimSuffix(row, "\n"), "\t")); err != nil {
			return nil, fmt.Errorf("data/devices.tsv:%d: %w", line, err)
		}
	}
	return t, nil
}

// head reads a row of chips or of generations; others are left alone.
func (t *DeviceTable) head(f []string) (err error) {
	switch {
	case f[0] == "chip":
		if t.chips[f[min(1, len(f)-1)]], err = chipRow(f); err != nil {
			return err
		}
	case f[0] == "xpu" && len(f) != 4:
		return fmt.Errorf("%d columns where 4 were needed", len(f))
	case f[0] == "xpu":
		t.xpu[f[1]] = Device{Vendor: machine.Intel, Chip: f[1], XPU: f[2] == "yes", XPUWhere: strings.Fields(f[3])}
	}
	return nil
}

func chipRow(f []string) (Device, error) {
	if len(f) != 5 {
		return Device{}, fmt.Errorf("%d columns where 5 were needed", len(f))
	}
	d := Device{Vendor: machine.NVIDIA, Chip: strings.TrimLeft(f[1], "?"), Arch: f[2]}
	if strings.HasPrefix(f[1], "?") {
		d.Chip = ""
	}
	d.Chip, _, _ = strings.Cut(d.Chip, "-")
	if f[3] != "" {
		sm, err := machine.ParseSM(f[3])
		if err != nil {
			return Device{}, err
		}
		d.SM = sm
	}
	if f[4] != "" {
		n, err := strconv.Atoi(f[4])
		if err != nil {
			return Device{}, fmt.Errorf("%q is not a driver branch", text.Cut(f[4], 60))
		}
		d.LastBranch = n
	}
	return d, nil
}

// LookupPCI finds a device by vendor:device ("10de:1db5", any case) and, where
// the table knows it, by subsystem; otherwise any row of the device speaks for
// all, because a device id is one chip.
func (t *DeviceTable) LookupPCI(id, subsystem string) (Device, bool) {
	id, subsystem = strings.ToLower(id), strings.ToLower(subsystem)
	if len(id) != 9 || strings.ContainsAny(id, "\t\n") {
		return Device{}, false
	}
	begins := "\n" + id + "\t"
	if strings.HasPrefix(id, "8086:") {
		begins = "\nintel\t" + id + "\t"
	}
	var found Device
	best := 0 // 1: any row of the device, 2: the one without a subsystem, 3: this subsystem
	for rest := t.text; ; {
		i := strings.Index(rest, begins)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		row, _, _ := strings.Cut(rest, "\n")
		d, ok := t.device(strings.Split(row, "\t"), modelRows)
		if !ok {
			continue
		}
		score := 1
		switch d.Subsystem {
		case "":
			score = 2
		case subsystem:
			score = 3
		}
		if score > best {
			found, best = d, score
		}
	}
	return found, best > 0
}

// The columns of the rows of models by what they begin with, in devices.tsv and in names.tsv.
var (
	modelRows = map[string]int{"10de": 7, "name": 6, "intel": 5, "amd": 3}
	namedRows = map[string]int{"intel": 3, "amd": 4}
)

// device reads the row of a model, such as
// "10de:1db5 TAB subsystem TAB chip TAB module TAB line TAB known TAB name".
func (t *DeviceTable) device(f []string, columns map[string]int) (d Device, ok bool) {
	kind := f[0]
	if len(kind) == len("10de:1db5") {
		kind, _, _ = strings.Cut(kind, ":")
	}
	if len(f) != columns[kind] {
		return d, false
	}
	switch kind {
	case "10de":
		d, ok = t.chips[f[2]]
		d.PCI, d.Subsystem, d.Name, d.Line = f[0], f[1], f[6], productLines[f[4]]
		d.Modules, d.Unlisted = flavours[f[3]], f[5] == "p"
	case "name":
		d, ok = t.chips[f[1]]
		d.Name, d.Line, d.Modules = f[5], productLines[f[3]], flavours[f[2]]
	case "amd":
		return Device{Vendor: machine.AMD, Name: f[2], GFX: f[1]}, true
	case "intel":
		pci, f := "", f[1:]
		if len(f) == 4 {
			pci, f = f[0], f[1:]
		}
		d, ok = t.xpu[f[0]]
		d.PCI, d.Name = pci, f[len(f)-1]
	}
	return d, ok
}

// The letters of the table, spelt out.
var (
	flavours     = map[string][]string{"o": {"open"}, "b": {"open", "proprietary"}, "p": {"proprietary"}}
	productLines = map[string]string{"g": "geforce", "w": "workstation", "d": "data center", "c": "cmp, grid, drive", "j": "jetson", "s": "spark"}
)
