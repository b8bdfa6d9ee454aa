package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
)

var (
	gfxTarget  = lazy.Regexp(`^gfx[0-9]{1,3}[0-9a-f]{1,2}$`)
	appleChip  = lazy.Regexp(`(?i)^(apple m[1-9][0-9]?|m[1-9])( (pro|max|ultra))?$`) // M10, M40 and M60 alone are Tesla's
	migProfile = lazy.Regexp(`\b[1-7]g\.[0-9]{1,3}gb\b`)
	graceChip  = lazy.Regexp(`\bG[HB][0-9]{2,3}\b`)
	countFirst = lazy.Regexp(`^(\d{1,2}) ?[x×] ?([A-Z].*)$`)
	countLast  = lazy.Regexp(`^(.+) [x×] ?(\d{1,2})$`)
	smText     = lazy.Regexp(`(?i)^((sm_|compute_)[0-9a-z.]*|[0-9]{1,2}\.[0-9]+)$`)
)

// A namedGPU is what a value of --gpu means.
type namedGPU struct {
	machine.GPU
	line string // product line of the device table: jetson, spark …; "" unknown
}

// grace: GPUs that NVIDIA sells only together with its Arm processor.
func (g namedGPU) grace() bool {
	return (strings.Contains(g.Name, "GB") || strings.Contains(g.Name, "GH")) && graceChip().MatchString(g.Name)
}

// GPU is the GPU that a value of --gpu means: a compute capability, an AMD target,
// an Apple chip, or a name that the device table knows.
func GPU(name string) (machine.GPU, error) {
	g, err := named(name)
	return g.GPU, err
}

// What begins or looks otherwise needs no regular expression to be told apart: to
// compile one takes the web page milliseconds.
func named(name string) (namedGPU, error) {
	lower := strings.ToLower(name)
	switch {
	case strings.ContainsAny(name, "._") && smText().MatchString(name): // well written or not; "4090" is a name
		sm, err := machine.ParseSM(lower)
		if err != nil {
			return namedGPU{}, BadValue("gpu", name, "write a compute capability such as 8.6 or sm_86, or a name such as \"RTX 3090\"")
		}
		return namedGPU{GPU: machine.GPU{Vendor: machine.NVIDIA, Name: "GPU of compute capability " + sm.String(), SM: sm}}, nil
	case strings.HasPrefix(lower, "gfx") && gfxTarget().MatchString(lower):
		return namedGPU{GPU: machine.GPU{Vendor: machine.AMD, Name: "AMD " + lower, GFX: lower}}, nil
	case slices.Contains([]string{"mps", "metal", "apple", "apple gpu", "apple silicon"}, lower):
		return namedGPU{GPU: appleGPU("Apple GPU")}, nil
	case (strings.HasPrefix(lower, "apple ") || strings.HasPrefix(lower, "m")) && appleChip().MatchString(name):
		chip := strings.ToUpper(strings.TrimPrefix(lower, "apple "))
		head, tail, _ := strings.Cut(chip, " ")
		return namedGPU{GPU: appleGPU(strings.TrimSpace("Apple " + head + " " + tail[:min(len(tail), 1)] + strings.ToLower(tail[min(len(tail), 1):])))}, nil
	}
	return lookedUp(name)
}

// lookedUp is the GPU of that name in the device table.
func lookedUp(name string) (namedGPU, error) {
	table := matrix.Devices()
	found := table.LookupName(name)
	if len(found) == 0 {
		return namedGPU{}, unknownGPU(name, table.Nearest(name, 3))
	}
	d := found[0]
	if _, foreign := matrix.Unsaid(name, d); len(foreign) > 0 {
		f := unknownGPU(name, []string{d.Name})
		f.Hints = []string{fmt.Sprintf("leave %q out, if the %s is meant", text.Clip(strings.Join(foreign, " "), 40), d.Name)}
		return namedGPU{}, f
	}
	if names := severalAnswers(found); len(names) > 1 {
		return namedGPU{}, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("%q may be any of several GPUs", text.Clip(name, 60)),
			Details: names, Hints: []string{"use the whole name, or the compute capability: `--gpu " + d.SM.String() + "`"}}
	}
	g := machine.GPU{Vendor: d.Vendor, Name: d.Name, SM: d.SM, GFX: d.GFX, Integrated: Integrated(d)}
	if lower := strings.ToLower(name); strings.Contains(lower, "g.") {
		g.MIG = migProfile().FindString(lower)
	}
	if g.Vendor == machine.NVIDIA && g.SM.IsZero() {
		return namedGPU{}, fail.Wrong(fmt.Sprintf("%s is known, but not its compute capability", d.Name),
			"name the capability: `--gpu 3.5`")
	}
	return namedGPU{g, d.Line}, nil
}

// Usual says of each GPU that was named which board is meant, where the name is not
// quite its own, or another one, which no list of NVIDIA's has, bears it too.
func (d Machine) Usual() []string {
	table := matrix.Devices()
	var out []string
	for _, name := range d.words() {
		g, err := GPU(strings.TrimSpace(name))
		if err != nil || g.SM.IsZero() {
			continue
		}
		for _, d := range table.LookupName(name) {
			if near, _ := matrix.Unsaid(name, d); d.Name == g.Name && len(near) > 0 {
				out = append(out, fmt.Sprintf("%s for %q: no board of that very name is known", g.Name, text.Clip(name, 60)))
			}
		}
		for _, other := range table.Namesakes(name) {
			if other.SM.IsZero() || other.SM == g.SM {
				continue
			}
			said := fmt.Sprintf("the usual %s of %s, not the board of that name with %s (--gpu %s)",
				strings.TrimPrefix(g.Name, "NVIDIA GeForce "), g.SM, other.SM, other.SM)
			out = xslices.Add(out, said)
		}
	}
	return out
}

func unknownGPU(name string, nearest []string) *fail.Error {
	f := fail.Wrong(fmt.Sprintf("no GPU is known by the name %q", text.Clip(name, 60)),
		"`--gpu 8.6` names it by its compute capability, which https://developer.nvidia.com/cuda-gpus lists")
	if card, flags, mixed := strings.Cut(name, " --"); mixed {
		f.Hints = []string{fmt.Sprintf("the quotes end too late: `--gpu %q --%s`", text.Clip(card, 60), text.Clip(flags, 60))}
	} else if len(nearest) > 0 {
		f.Details = []string{"nearest: " + strings.Join(nearest, ", ")}
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

// Integrated tells graphics inside a processor from cards; Intel's by their names.
func Integrated(d matrix.Device) bool {
	if d.Vendor == machine.Apple {
		return true
	}
	marks := []string{"UHD", "Iris", "HD Graphics", "[Intel Graphics]"}
	return d.Vendor == machine.Intel && slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(d.Name, mark) })
}

// words are the words for one GPU each: people list them ("RTX 3090, T4"), and count them
// ("2x A100", "A100 x2"). No GPU's name has a comma.
func (d Machine) words() (out []string) {
	for _, one := range strings.Split(strings.Join(d.GPUs, ","), ",") {
		one, count := strings.TrimSpace(one), 1
		if m := countFirst().FindStringSubmatch(one); m != nil {
			count, _ = strconv.Atoi(m[1]) // two digits
			one = m[2]
		} else if m := countLast().FindStringSubmatch(one); m != nil {
			count, _ = strconv.Atoi(m[2])
			one = m[1]
		}
		out = append(out, slices.Repeat([]string{one}, max(count, 1))...)
	}
	return out
}
