package main

import (
	"fmt"
	"regexp"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/ui"
)

var (
	gfxTarget = regexp.MustCompile(`^gfx[0-9]{1,3}[0-9a-f]{1,2}$`)
	appleChip = regexp.MustCompile(`(?i)^(apple )?m[1-9][0-9]?( (pro|max|ultra))?$`)
)

// describedGPU reads a value of --gpu: a compute capability, an AMD target, an
// Apple chip, or a name that the device table knows.
func describedGPU(text string) (machine.GPU, error) {
	switch {
	case looksLikeSM(text):
		sm, err := machine.ParseSM(strings.ToLower(text))
		if err != nil {
			return machine.GPU{}, badValue("gpu", text, "write a compute capability such as 8.6 or sm_86, or a name such as \"RTX 3090\"")
		}
		return machine.GPU{Vendor: machine.NVIDIA, Name: "GPU of compute capability " + sm.String(), SM: sm}, nil
	case gfxTarget.MatchString(strings.ToLower(text)):
		gfx := strings.ToLower(text)
		return machine.GPU{Vendor: machine.AMD, Name: "AMD " + gfx, GFX: gfx}, nil
	case appleChip.MatchString(text):
		chip := strings.ToUpper(strings.TrimPrefix(strings.ToLower(text), "apple "))
		head, tail, _ := strings.Cut(chip, " ")
		return appleGPU(strings.TrimSpace("Apple " + head + " " + titled(tail))), nil
	}
	return machine.GPU{}, &failure{code: exitUsage, text: fmt.Sprintf("no GPU is known by the name %q", ui.Clip(text, 60)),
		hints: []string{"`--gpu 8.6` names it by its compute capability"}}
}

var smText = regexp.MustCompile(`(?i)^((sm_|compute_)[0-9a-z.]*|[0-9]{1,2}\.[0-9]+)$`)

// looksLikeSM reports whether text means a compute capability, well written or
// not; "4090" is a name.
func looksLikeSM(text string) bool { return smText.MatchString(text) }

func titled(s string) string {
	if s == "" {
		return ""
	}
	return s[:1] + strings.ToLower(s[1:])
}
