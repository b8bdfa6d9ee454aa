package use

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
)

// longAgo is after how many seconds an error of a GPU that works again is history.
const longAgo = 24 * 3600

// kernelErrors: what NVIDIA's kernel module logged since the machine was started.
func kernelErrors(e *evidence.Evidence, out *evidence.Findings) {
	if e.Machine.KernelLog == nil {
		return
	}
	for _, k := range e.Machine.KernelLog.Errors {
		switch {
		case k.Switch:
			switchError(out, k)
		case strings.Contains(k.Text, "to 0x0 (None)"): // Xid 154: the GPU has recovered
		default:
			xid(e, out, k)
		}
	}
}

func xid(e *evidence.Evidence, out *evidence.Findings, k machine.KernelError) {
	x := e.Knowledge.Xids[k.Number]
	if x == nil {
		return // a test, or a code that says nothing of the GPU's health
	}
	i := slices.IndexFunc(e.Machine.GPUs,
		func(g machine.GPU) bool { return machine.SamePCI(g.PCIAddress, k.PCIAddress) })
	name, works, index := "the GPU at "+k.PCIAddress, false, "N"
	if i >= 0 {
		g := e.Machine.GPUs[i]
		name, works, index = evidence.GPUName(g), g.Visible, strconv.Itoa(g.Index)
	}
	fix := slices.Clone(x.Fix)
	for j := range fix {
		fix[j] = strings.ReplaceAll(fix[j], "-i N", "-i "+index)
	}
	severity := e.Knowledge.Checks[x.Check].Severity
	if x.Severity != nil {
		severity = *x.Severity
	}
	weight := map[evidence.Severity]evidence.Proof{evidence.Note: evidence.Trifle, evidence.Warning: evidence.Hint, evidence.Error: evidence.Likely.Exact()}[severity]
	if works && k.AgeSeconds != nil && *k.AgeSeconds > longAgo && severity == evidence.Error {
		severity, weight = evidence.Warning, evidence.Hint
	}
	text := fmt.Sprintf("the kernel logged Xid %d of %s%s: %s", k.Number, name, times(k), x.Text)
	f := out.Find(x.Check, weight, evidence.Fact("kernel log: Xid (PCI:%s): %d, %s", k.PCIAddress, k.Number, k.Text)).
		Say(text).
		Do(fix...)
	f.As(severity)
}

// switchError: the SXid of an NVSwitch. Those that are not fatal were corrected.
func switchError(out *evidence.Findings, k machine.KernelError) {
	f := out.Find("KMD013", evidence.Likely, evidence.Fact("kernel log: SXid (PCI:%s): %d, %s", k.PCIAddress, k.Number, k.Text)).
		Says("the kernel logged SXid %d of the NVSwitch at %s%s", k.Number, k.PCIAddress, times(k))
	if strings.Contains(strings.ToLower(k.Text), "non-fatal") {
		f.As(evidence.Note).Proof = evidence.Trifle
	}
}

// times says how often and when: " 3 times, 2 h ago".
func times(k machine.KernelError) string {
	out := say.If(k.Count > 1, fmt.Sprintf(", %d times", k.Count))
	if k.AgeSeconds == nil {
		return out
	}
	last := say.If(k.Count > 1, "last ")
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
