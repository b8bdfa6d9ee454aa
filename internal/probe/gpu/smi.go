package gpu

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// An smiReport is what nvidia-smi answered.
type smiReport struct {
	driver version.Dotted
	gpus   []machine.GPU
}

// findSMI finds nvidia-smi where drivers put it, before PATH.
func findSMI(h *sysroot.Host, o Options) string {
	if o.SMI != "" {
		return o.SMI
	}
	places := []string{wslLibraries + "/nvidia-smi", "/usr/bin/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi", "/run/current-system/sw/bin/nvidia-smi"}
	if h.OS == "windows" {
		places = []string{h.Env["SYSTEMROOT"] + `\System32\nvidia-smi.exe`, h.Env["PROGRAMFILES"] + `\NVIDIA Corporation\NVSMI\nvidia-smi.exe`}
	}
	p, _ := xslices.Find(places, func(p string) bool { return h.IsProgram(p) })
	return p
}

// smiFields are asked of nvidia-smi, those that old ones lack last: compute_cap
// came with 495, and one unknown field fails the whole question.
var smiFields = []string{"driver_version", "index", "name", "uuid", "pci.bus_id", "memory.total", "compute_cap"}

// askSMI runs nvidia-smi; nil: no answer, and a note says why.
func askSMI(ctx context.Context, h *sysroot.Host, o Options) *smiReport {
	for _, fields := range [][]string{smiFields, smiFields[:len(smiFields)-1]} {
		argv := []string{findSMI(h, o), "--query-gpu=" + strings.Join(fields, ","), "--format=csv,noheader,nounits"}
		a := runLimited(ctx, o.limit(), argv, childEnv(h.Vars), h.Started)
		if a.late {
			h.Note("nvidia-smi did not answer within %s: the driver hangs", o.limit())
			return nil
		}
		if strings.Contains(a.stdout, "is not a valid field") {
			continue
		}
		if a.err != nil {
			a.stderr += "\n" + a.stdout
			h.Note("nvidia-smi: %s", firstWords(a))
			return nil
		}
		r, err := parseSMI(a.stdout)
		if err != nil {
			h.Note("nvidia-smi: %v", err)
			return nil
		}
		return r
	}
	return nil
}

// parseSMI reads the answer to smiFields, with or without its last field. What
// is not supported stands as [N/A] or [Not Supported].
func parseSMI(s string) (*smiReport, error) {
	in := csv.NewReader(strings.NewReader(s))
	in.TrimLeadingSpace, in.FieldsPerRecord, in.LazyQuotes = true, -1, true
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("its answer is not understood")
	}
	r := &smiReport{}
	for _, row := range rows {
		if len(row) < len(smiFields)-1 {
			return nil, fmt.Errorf("its answer is not understood: %.80q", text.Printable(strings.Join(row, ", ")))
		}
		if r.driver = plausible(row[0]); r.driver.IsZero() {
			return nil, fmt.Errorf("%.40q is not a driver version", text.Printable(row[0]))
		}
		g := machine.GPU{Vendor: machine.NVIDIA, Name: text.Printable(row[2]), Visible: true, Evidence: machine.FromSMI}
		if strings.HasPrefix(row[3], "GPU-") {
			g.UUID = text.Printable(row[3])
		}
		if strings.Count(row[4], ":") == 2 {
			g.PCIAddress = shortAddress(text.Printable(row[4]))
		}
		if mib, err := strconv.ParseUint(row[5], 10, 30); err == nil {
			g.MemoryBytes = int64(mib) << 20
		}
		if len(row) == len(smiFields) {
			if sm, err := machine.ParseSM(row[6]); err == nil {
				g.SM = sm
			}
		}
		r.gpus = append(r.gpus, g)
	}
	return r, nil
}

// parseWindowsDriver turns the version that Windows keeps of a driver into the
// one that NVIDIA prints, which is its last five digits: 32.0.15.6636 is 566.36.
func parseWindowsDriver(s string) version.Dotted {
	digits := strings.ReplaceAll(s, ".", "")
	if len(digits) < 5 || strings.Count(s, ".") != 3 {
		return version.Dotted{}
	}
	digits = digits[len(digits)-5:]
	return plausible(digits[:3] + "." + digits[3:])
}
