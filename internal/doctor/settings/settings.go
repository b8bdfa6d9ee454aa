// Package settings is the room of the variables that one value decides, and of the Python
// that reads them; where a file sets one, the file is named.
package settings

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/near"
	"envfix/internal/say"
)

// allocOptions: torch raises at the first use of CUDA where it does not know an option.
func allocOptions(e *evidence.Evidence, out *evidence.Findings) {
	for _, o := range e.Files.Options {
		f := out.Find("ACC023", evidence.Proven, e.From.Env[o.Variable]).
			Says("%s names %q, which torch %s does not know: it fails at the first use of CUDA", o.Variable, o.Option, e.Torch.Named())
		var ways []string
		if o.Variable == "TORCH_LOGS" {
			f.Says("TORCH_LOGS names %q, which torch %s does not know: `import torch` fails", o.Option, e.Torch.Named())
		}
		if o.Value != "" {
			f.Says("%s gives %s the value %q, and torch %s takes %s: it fails at the first use of CUDA", o.Variable, o.Option, o.Value, e.Torch.Named(), o.Wants)
		}
		if o.Near != "" {
			right := strings.Replace(e.Machine.Env[o.Variable], o.Option, o.Near, 1)
			ways = append(ways, fmt.Sprintf("`export %s=%s`: %s is meant", o.Variable, right, o.Near))
		}
		e.Repair().Unset(f, o.Variable, ways...)
	}
}

// ofFunction is what of a list is for one collective operation.
var ofFunction = lazy.Regexp(`(?i)\b(?:all|broadcast|reduce)\w*:`)

// noSuchValue: a word that a variable does not take is passed over in silence.
func noSuchValue(e *evidence.Evidence, out *evidence.Findings) {
	for _, row := range e.Limit("variable-values").Values {
		words := strings.Fields(row)
		name, list := strings.CutSuffix(words[0], ",")
		name, fatal := strings.CutSuffix(name, "!")
		name, slow := strings.CutSuffix(name, "~")
		words = words[1:]
		v := e.Machine.Env[name]
		items := []string{v}
		if list { // "^Tree", "Ring,Tree", "allreduce:Tree;broadcast:Ring"
			items = strings.FieldsFunc(ofFunction().ReplaceAllString(v, ""), func(r rune) bool { return strings.ContainsRune(",;^ ", r) })
		}
		i := slices.IndexFunc(items, func(item string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return w == item || list && strings.EqualFold(w, item) })
		})
		if e.Pasted || v == "" || i < 0 {
			continue
		}
		f := out.Find("ACC025", evidence.Likely, e.From.Env[name]).
			Says("%s=%q is none of the words that it takes (%s): it has no effect", name, v, strings.Join(words, ", "))
		if fatal {
			fails := say.Either(strings.HasPrefix(name, "CUDA_"), "CUDA does not start (invalid device ordinal)", "`import torch` fails")
			f.Says("%s=%q is none of the words that it takes (%s): %s", name, v, strings.Join(words, ", "), fails).As(evidence.Error)
		}
		likely := slices.MinFunc(words, func(a, b string) int { return near.Distance(a, items[i]) - near.Distance(b, items[i]) })
		ways := []string{"`export " + name + "=" + likely + "`, if that is meant"}
		if slow {
			f.Says("%s=%s is for finding faults: the program waits for the GPU at each step, and all work is slow", name, v)
			ways = nil
		}
		e.Repair().Unset(f, name, ways...)
	}
}

// archItem is one of TORCH_CUDA_ARCH_LIST (torch/utils/cpp_extension.py).
var archItem = lazy.Regexp(`(?i)^(?:\d{1,2}\.\d[af]?(?:\+PTX)?|Kepler(?:\+Tesla)?|Maxwell(?:\+Tegra)?|Pascal|Volta(?:\+Tegra)?|Turing|Ampere(?:\+Tegra)?|Ada|Hopper|Blackwell(?:\+Tegra)?)$`)

// archList: what compiles an extension ends with an error where it cannot read the list.
func archList(e *evidence.Evidence, out *evidence.Findings) {
	v := e.Machine.Env["TORCH_CUDA_ARCH_LIST"]
	if e.Pasted || v == "" {
		return
	}
	for _, item := range strings.FieldsFunc(v, func(r rune) bool { return r == ';' || r == ' ' }) {
		if archItem().MatchString(item) {
			continue
		}
		f := out.Find("TK022", evidence.Hint, e.From.Env["TORCH_CUDA_ARCH_LIST"]).
			Says("TORCH_CUDA_ARCH_LIST=%q: %q is no compute capability: what compiles for the GPU stops there", v, item)
		right := "8.6"
		if g := e.GPU().First(machine.NVIDIA); g != nil && !g.SM.IsZero() {
			right = g.SM.String()
		}
		e.Repair().Unset(f, "TORCH_CUDA_ARCH_LIST", "`export TORCH_CUDA_ARCH_LIST=\""+right+"\"`: numbers with a dot, with ; between them")
		return
	}
}

// noInterface: NCCL starts no connection where none of the interfaces is here.
func noInterface(e *evidence.Evidence, out *evidence.Findings) {
	v := e.Machine.Env["NCCL_SOCKET_IFNAME"]
	if e.Around == nil || len(e.Around.Networks) == 0 || v == "" || v[0] == '^' {
		return
	}
	exact := strings.HasPrefix(v, "=")
	for name := range strings.SplitSeq(strings.TrimPrefix(v, "="), ",") {
		if slices.ContainsFunc(e.Around.Networks, func(n string) bool { return n == name || !exact && name != "" && strings.HasPrefix(n, name) }) {
			return
		}
	}
	f := out.Find("MG009", evidence.Likely, e.From.Env["NCCL_SOCKET_IFNAME"], evidence.Fact("interfaces here: %s", strings.Join(e.Around.Networks, " "))).
		Says("NCCL_SOCKET_IFNAME=%s names no network interface of this machine: NCCL finds none and stops", v).As(evidence.Warning)
	e.Repair().Unset(f, "NCCL_SOCKET_IFNAME", "`ip -brief addr` lists the interfaces: name the one that leads to the other machines")
}
