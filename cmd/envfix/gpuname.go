package main

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/ui"
	"envfix/matrix"
)

var (
	gfxTarget  = lazy.Regexp(`^gfx[0-9]{1,3}[0-9a-f]{1,2}$`)
	appleChip  = lazy.Regexp(`(?i)^(apple )?m[1-9][0-9]?( (pro|max|ultra))?$`)
	migProfile = lazy.Regexp(`\b[1-7]g\.[0-9]{1,3}gb\b`)
	graceChip  = lazy.Regexp(`\bG[HB][0-9]{2,3}\b`)
)

// A described GPU is what a value of --gpu means.
type described struct {
	machine.GPU
	Line string // product line of the device table: jetson, spark …; "" unknown
}

// grace: GPUs that NVIDIA sells only together with its Arm processor.
func (d described) grace() bool { return graceChip().MatchString(d.Name) }

// describedGPU is the GPU that a value of --gpu means.
func describedGPU(text string) (machine.GPU, error) {
	d, err := describe(text)
	return d.GPU, err
}

// describe reads a value of --gpu: a compute capability, an AMD target, an Apple
// chip, or a name that the device table knows.
func describe(text string) (described, error) {
	switch {
	case looksLikeSM(text):
		sm, err := machine.ParseSM(strings.ToLower(text))
		if err != nil {
			return described{}, badValue("gpu", text, "write a compute capability such as 8.6 or sm_86, or a name such as \"RTX 3090\"")
		}
		return described{GPU: machine.GPU{Vendor: machine.NVIDIA, Name: "GPU of compute capability " + sm.String(), SM: sm}}, nil
	case gfxTarget().MatchString(strings.ToLower(text)):
		gfx := strings.ToLower(text)
		return described{GPU: machine.GPU{Vendor: machine.AMD, Name: "AMD " + gfx, GFX: gfx}}, nil
	case appleChip().MatchString(text):
		chip := strings.ToUpper(strings.TrimPrefix(strings.ToLower(text), "apple "))
		head, tail, _ := strings.Cut(chip, " ")
		return described{GPU: appleGPU(strings.TrimSpace("Apple " + head + " " + titled(tail)))}, nil
	}
	return namedGPU(text)
}

// namedGPU looks a name up in the device table.
func namedGPU(text string) (described, error) {
	table, err := matrix.Devices()
	if err != nil {
		return described{}, &failure{code: exitFailed, text: err.Error(), err: err}
	}
	found := table.LookupName(text)
	if len(found) == 0 {
		return described{}, unknownGPU(text, table.Nearest(text, 3))
	}
	d := found[0]
	if names := severalAnswers(found); len(names) > 1 {
		return described{}, &failure{code: exitUsage, text: fmt.Sprintf("%q may be any of several GPUs", ui.Clip(ui.Clean(text), 60)),
			details: names, hints: []string{"use the whole name, or the compute capability: `--gpu " + d.SM.String() + "`"}}
	}
	g := machine.GPU{Vendor: d.Vendor, Name: d.Name, SM: d.SM, GFX: d.GFX, Integrated: insideProcessor(d), MIG: migProfile().FindString(strings.ToLower(text))}
	if g.Vendor == machine.NVIDIA && g.SM.IsZero() {
		return described{}, &failure{code: exitUsage, text: fmt.Sprintf("%s is known, but not its compute capability", d.Name), hints: []string{"name the capability: `--gpu 3.5`"}}
	}
	return described{g, d.Line}, nil
}

func unknownGPU(text string, nearest []string) *failure {
	f := &failure{code: exitUsage, text: fmt.Sprintf("no GPU is known by the name %q", ui.Clip(ui.Clean(text), 60)),
		hints: []string{"`--gpu 8.6` names it by its compute capability, which https://developer.nvidia.com/cuda-gpus lists"}}
	if len(nearest) > 0 {
		f.details = []string{"nearest: " + strings.Join(nearest, ", ")}
	}
	return f
}

// severalAnswers lists the devices of a name that differ in what builds are made
// for; one or none: the name is clear.
func severalAnswers(found []matrix.Device) []string {
	var out, seen []string
	for _, d := range found {
		key := d.Vendor + d.SM.String() + d.GFX
		if !slices.Contains(seen, key) {
			seen = append(seen, key)
			out = append(out, strings.TrimSpace(d.Name+"  "+d.SM.String()+d.GFX))
		}
	}
	return out
}

var smText = lazy.Regexp(`(?i)^((sm_|compute_)[0-9a-z.]*|[0-9]{1,2}\.[0-9]+)$`)

// looksLikeSM reports whether text means a compute capability, well written or
// not; "4090" is a name.
func looksLikeSM(text string) bool { return smText().MatchString(text) }

func titled(s string) string {
	if s == "" {
		return ""
	}
	return s[:1] + strings.ToLower(s[1:])
}
