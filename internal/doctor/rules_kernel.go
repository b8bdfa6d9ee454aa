package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// longAgo is after how many seconds an error of a GPU that works again is history.
const longAgo = 24 * 3600

// kernelErrors: what NVIDIA's kernel module logged since the machine was started.
func (e *exam) kernelErrors() {
	if e.Machine.KernelLog == nil {
		return
	}
	for _, k := range e.Machine.KernelLog.Errors {
		switch {
		case k.Switch:
			e.switchError(k)
		case strings.Contains(k.Text, "to 0x0 (None)"): // Xid 154: the GPU has recovered
		default:
			e.xid(k)
		}
	}
}

func (e *exam) xid(k machine.KernelError) {
	x := e.k.Xids[k.Number]
	if x == nil {
		return // a test, or a code that says nothing of the GPU's health
	}
	i := slices.IndexFunc(e.Machine.GPUs,
		func(g machine.GPU) bool { return machine.SamePCI(g.PCIAddress, k.PCIAddress) })
	name, works, index := "the GPU at "+k.PCIAddress, false, "N"
	if i >= 0 {
		g := e.Machine.GPUs[i]
		name, works, index = gpuName(g), g.Visible, strconv.Itoa(g.Index)
	}
	fix := slices.Clone(x.Fix)
	for j := range fix {
		fix[j] = strings.ReplaceAll(fix[j], "-i N", "-i "+index)
	}
	severity := e.k.Checks[x.Check].Severity
	if x.Severity != nil {
		severity = *x.Severity
	}
	weight := map[know.Severity]int{know.Note: trifle, know.Warning: hint, know.Error: likely + 5}[severity]
	if works && k.AgeSeconds != nil && *k.AgeSeconds > longAgo && severity == know.Error {
		severity, weight = know.Warning, hint
	}
	text := fmt.Sprintf("the kernel logged Xid %d of %s%s: %s", k.Number, name, times(k), x.Text)
	f := e.find(x.Check, weight, fact("kernel log: Xid (PCI:%s): %d, %s", k.PCIAddress, k.Number, k.Text)).
		text(text).
		fix(fix...)
	f.Severity = severity
}

// switchError: the SXid of an NVSwitch. Those that are not fatal were corrected.
func (e *exam) switchError(k machine.KernelError) {
	f := e.find("KMD013", likely, fact("kernel log: SXid (PCI:%s): %d, %s", k.PCIAddress, k.Number, k.Text)).
		says("the kernel logged SXid %d of the NVSwitch at %s%s", k.Number, k.PCIAddress, times(k))
	if strings.Contains(strings.ToLower(k.Text), "non-fatal") {
		f.Severity, f.weight = know.Note, trifle
	}
}

// times says how often and when: " 3 times, 2 h ago".
func times(k machine.KernelError) string {
	out := ""
	if k.Count > 1 {
		out = fmt.Sprintf(", %d times", k.Count)
	}
	if k.AgeSeconds == nil {
		return out
	}
	last := ""
	if k.Count > 1 {
		last = "last "
	}
	return out + ", " + last + ago(*k.AgeSeconds)
}

func ago(seconds int64) string {
	switch {
	case seconds < 120:
		return "just now"
	case seconds < 2*3600:
		return fmt.Sprintf("%d minutes ago", seconds/60)
	case seconds < 2*24*3600:
		return fmt.Sprintf("%d hours ago", seconds/3600)
	}
	return fmt.Sprintf("%d days ago", seconds/(24*3600))
}

// xidNumber is the number in a line of the kernel's log.
var xidNumber = lazy.Regexp(`\bXid \((?:PCI:)?[0-9A-Fa-f:.]+\): (\d{1,4})\b`)

// meaning says of a pasted Xid what its number means, where the table files it
// under the check that was found.
func (e *exam) meaning(h read.Hit, f *finding) {
	if h.Message.Program != "kernel" {
		return
	}
	m := xidNumber().FindStringSubmatch(h.At.Text)
	if m == nil {
		return
	}
	n, err := strconv.Atoi(m[1])
	if x := e.k.Xids[n]; err == nil && x != nil && x.Check == h.Message.Checks[0] {
		f.Text, f.Fix = fmt.Sprintf("Xid %d: %s", n, x.Text), x.Fix
	}
}
