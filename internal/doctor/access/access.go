package access

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// visibleDevices: the variable hides the GPUs. An index that does not exist hides
// itself and everything after it.
func visibleDevices(e *evidence.Evidence, out *evidence.Findings) {
	if _, trouble := e.None("cuda-ordinal", "torch-unknown-error"); !trouble && e.Pasted {
		return
	}
	for i, name := range hiding {
		if i > 0 && e.GPU().Of(machine.NVIDIA) && !e.GPU().Of(machine.AMD) && e.Torch.HIP == "" {
			continue // a torch for CUDA does not read it
		}
		said := e.From.Env[name]
		if value, set := e.Machine.Env[name]; set {
			if bad := hidden(e, name, value); bad != "" {
				f := out.Find("ACC001", evidence.Proven, said, e.Torch.AvailableAt).Say(bad)
				if first, _, _ := strings.Cut(value, ","); !e.Pasted && hides(e, name, value, strings.TrimSpace(first), true) == "" && !strings.HasSuffix(bad, everyGPU) {
					f.Says("%s; those before it can be used", bad).As(evidence.Warning)
				}
				e.Repair().Unset(f, name, unhide(name, said)...)
			}
		}
	}
}

// hiddenElsewhere: this shell has not the variable, and a program that is started here gets
// it: a notebook by its kernel, what reads .env, a script that sets it itself.
func hiddenElsewhere(e *evidence.Evidence, out *evidence.Findings) {
	if e.Files == nil || e.Torch.NoCUDA || len(e.GPU().Visible()) == 0 {
		return
	}
	for _, v := range e.Files.Elsewhere {
		how := ""
		if v.Name == hiding[0] {
			how = hidden(e, v.Name, v.Value)
		}
		if how == "" {
			continue
		}
		at := v.Origins[0]
		f := out.Find("ACC001", evidence.Hint, evidence.Fact("%s sets %s=%s", at.Place(), v.Name, v.Value)).
			Says("%s, for what is started with %s; in this shell it is not set", how, at.Place()).
			Do("take " + v.Name + " out of " + at.Place() + ", where a GPU is wanted there").As(evidence.Note)
		if at.Kind == machine.OriginKernel {
			f.As(evidence.Warning) // a notebook says nothing of it
		}
	}
}

// hidden says how a value of a variable hides GPUs; "" it does not. One that is named twice
// hides all (torch/cuda/__init__.py, _parse_visible_devices).
func hidden(e *evidence.Evidence, name, value string) (bad string) {
	entries := strings.Split(value, ",")
	for i, entry := range entries {
		entry = strings.TrimSpace(entry)
		if how := hides(e, name, value, entry, i == 0); how != "" {
			bad = how
		}
		if bad == "" && entry != "" && slices.ContainsFunc(entries[:i], func(o string) bool { return strings.TrimSpace(o) == entry }) {
			bad = fmt.Sprintf("%s=%q names %s twice: that%s", name, value, entry, everyGPU)
		}
	}
	return bad
}

// everyGPU is what is said of a value that leaves none.
const everyGPU = " hides every GPU"

// hiding are the variables that hide GPUs.
var hiding = []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}

// hides says how an entry of a variable hides GPUs; "" it does not.
func hides(e *evidence.Evidence, name, value, entry string, first bool) string {
	switch {
	case entry == "NoDevFiles":
		return "" // the scheduler's: see job-without-gpu of the data
	case noSuchUUID(e, entry):
		return hidesByUUID(e, name, entry)
	case entry == "all" && name != hiding[0], strings.HasPrefix(entry, "MIG"):
		return ""
	case strings.HasPrefix(entry, "GPU-"):
		if first && e.Pasted && e.Torch.SeesNone() && len(e.Hits) == 0 {
			return name + " names a GPU by its UUID: one that is not there hides every GPU, and torch 1.13 counts none so"
		}
		return ""
	case !first:
	case entry == "" || entry == "-1" || strings.EqualFold(entry, "none"):
		return fmt.Sprintf("%s=%q%s", name, value, everyGPU)
	case entry == "all":
		return name + `="all" hides every GPU: the word is one of NVIDIA_VISIBLE_DEVICES, and CUDA wants indexes or UUIDs`
	case index(entry) < 0 && (len(entry) < 12 || !e.Pasted):
		return fmt.Sprintf("%s=%q names no GPU", name, value)
	}
	if beyond(e, name, index(entry), first) {
		return fmt.Sprintf("%s=%q names a GPU that is not there: it and those after it are hidden", name, value)
	}
	return ""
}

// hidesByUUID says what a UUID does that no GPU here has, letter by letter.
func hidesByUUID(e *evidence.Evidence, name, entry string) string {
	here := text.Each(e.GPU().Visible(), func(g machine.GPU) string { return g.UUID })
	if i := slices.IndexFunc(here, func(u string) bool { return entry != "GPU-" && strings.HasPrefix(u, entry) }); i >= 0 {
		return fmt.Sprintf("%s names %s, with which more than one UUID begins: no GPU is taken; one is %s", name, entry, here[i])
	}
	if i := slices.IndexFunc(here, func(u string) bool {
		return entry != "GPU-" && strings.HasPrefix(strings.ToLower(u), strings.ToLower(entry))
	}); i >= 0 {
		return fmt.Sprintf("%s names %s, in other letters than the driver: CUDA takes it, and torch counts no GPU; it is %s", name, entry, here[i])
	}
	return fmt.Sprintf("%s names %s, and no GPU here has that UUID: it and those after it are hidden; here is %s",
		name, entry, strings.Join(here[:min(len(here), 4)], ", "))
}

var leadingNumber = lazy.Regexp(`^\+?(\d+)`)

// index is that of an entry, -1 where it has none: CUDA reads the digits that it begins with
// and passes over the rest, so "0-1" and "0;1" are the GPU 0 (seen on an H200, driver 580).
func index(entry string) int {
	if m := leadingNumber().FindStringSubmatch(entry); m != nil {
		return evidence.Atoi(m[1])
	}
	return -1
}

// noSuchUUID reports whether an entry names a GPU, or a MIG instance, that the driver
// surely does not list. CUDA takes the beginning of a UUID for the whole, where one alone has it.
func noSuchUUID(e *evidence.Evidence, entry string) bool {
	if e.Pasted || !strings.HasPrefix(entry, "GPU-") && !strings.HasPrefix(entry, "MIG-") {
		return false
	}
	gpus := e.GPU().Visible()
	if strings.HasPrefix(entry, "GPU-") && slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.MIG != "" }) {
		return false // of a GPU that is divided the instances alone are listed
	}
	fit := xslices.Filter(gpus, func(g machine.GPU) bool { return g.UUID == "" || strings.HasPrefix(g.UUID, entry) })
	return entry == "GPU-" || len(gpus) > 0 && (len(fit) == 0 || len(fit) > 1 && fit[0].UUID != "")
}

// beyond reports whether there is no GPU of an index.
func beyond(e *evidence.Evidence, name string, index int, first bool) bool {
	n := len(e.Machine.GPUs)
	if !e.Pasted && name == hiding[0] { // of a card that is divided a program sees one instance
		n = len(slices.CompactFunc(e.GPU().Visible(), func(a, b machine.GPU) bool { return a.MIG != "" && b.MIG != "" && a.PCIAddress == b.PCIAddress }))
	}
	if _, counted := e.Has("cuda-ordinal"); counted && first && !strings.Contains(e.Machine.Env[name], ",") {
		return false // CUDA counts what the variable left: something is
	}
	if e.Listed && n > 0 && index >= n || first && e.Says.GPUs > 0 && index >= e.Says.GPUs {
		return true
	}
	one := strings.Contains(strings.ToLower(e.From.Env[name].Text), "single") || e.Clue("cvd-set-in-script")
	return one && index >= 1 && first
}

// unhide is how a variable lets GPUs through again: where a script sets it, a shell that
// does not have it changes nothing.
func unhide(name string, said evidence.Quote) []string {
	if strings.Contains(said.Text, "environ") || strings.Contains(said.Text, "putenv") {
		return []string{"take that line out of the script, or set " + name + " there to an index of `nvidia-smi -L`, before torch is imported"}
	}
	return []string{"`unset " + name + "`, or set it to an index or UUID of `nvidia-smi -L`"}
}

// moreProcesses: a launcher starts more processes than the variable leaves GPUs,
// and each takes the GPU of its number.
func moreProcesses(e *evidence.Evidence, out *evidence.Findings) {
	asked, n := e.Did.Launch, e.Did.Processes
	ordinal, failed := e.Has("cuda-ordinal")
	list, _, _ := strings.Cut(e.Machine.Env["CUDA_VISIBLE_DEVICES"], " ")
	if !failed || list == "" {
		return
	}
	visible := len(strings.Split(strings.Trim(list, ","), ","))
	if n > visible {
		out.Find("ACC001", evidence.Likely, e.From.Env["CUDA_VISIBLE_DEVICES"], asked, ordinal).
			Says("%d processes are started and CUDA_VISIBLE_DEVICES leaves %d GPUs", n, visible).
			Do("as many processes as the variable names GPUs")
	}
}

// lateVariable: a script sets the variable below its import of torch. Since torch
// 1.12 that may be too late even before the first call of CUDA (pytorch issue
// 80876).
func lateVariable(e *evidence.Evidence, out *evidence.Findings) {
	imported, set := e.Did.ImportTorch, e.Did.SetDevices
	if imported.IsZero() || set.IsZero() || imported.File != set.File || imported.Line >= set.Line {
		return
	}
	out.Find("ACC003", evidence.Hint, imported, set).
		Says("CUDA_VISIBLE_DEVICES is set after torch was imported").
		Do("set it in the shell, or in the first lines of the script, before `import torch`")
}

// missingGPU: several GPUs of one kind are on the bus, and nvidia-smi lists fewer.
// A GPU of another kind may simply be one that this driver does not know, and a
// container may be given less than the host has.
func missingGPU(e *evidence.Evidence, out *evidence.Findings) {
	n := len(e.Machine.GPUs)
	if !e.Listed || n == 0 || len(e.Bus) <= n || e.Machine.Platform.Environment == machine.Container ||
		slices.ContainsFunc(e.Bus, func(s string) bool { return s != e.Bus[0] }) {
		return
	}
	out.Find("DRV014", evidence.Strong, e.From.Bus, e.From.GPU).
		Says("lspci lists %d GPUs of one kind and nvidia-smi %d of them", len(e.Bus), n)
}
