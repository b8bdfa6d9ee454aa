package chart

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/matrix"
)

// generation is the row of what builds have code for, without its cells.
func generation(g machine.GPU, name, models string) Row {
	return Row{Vendor: g.Vendor, Code: g.SM.String() + g.GFX, Name: name, Models: models, gpu: g}
}

// models are names that people know a generation by. What they mean is in the device
// table; a test looks each up there.
var models = map[string]string{
	"3.5": "K40, GTX 780 Ti", "3.7": "K80", "5.0": "Tesla M10, Quadro M2000M", "5.2": "GTX 980, Tesla M40, Tesla M60", "5.3": "Jetson TX1",
	"6.0": "P100", "6.1": "GTX 1080, P40, P4", "6.2": "Jetson TX2", "7.0": "V100, TITAN V", "7.2": "Jetson Xavier",
	"7.5": "RTX 2080, T4, GTX 1660", "8.0": "A100, A30", "8.6": "RTX 3090, A10, A40", "8.7": "Jetson Orin",
	"8.9": "RTX 4090, L4, L40S", "9.0": "H100, H200, GH200", "10.0": "B200, GB200", "10.3": "B300, GB300",
	"11.0": "Jetson Thor", "12.0": "RTX 5090, RTX PRO 6000", "12.1": "DGX Spark",
}

// generations lists the rows of a view, the newest first, NVIDIA's before the others.
func generations(m *matrix.Matrix, v View) []Row {
	var out []Row
	for i := len(m.Arches) - 1; i >= 0; i-- {
		a := m.Arches[i]
		g := machine.GPU{Vendor: machine.NVIDIA, Name: a.Name + " GPU", SM: a.SM}
		known := models[a.SM.String()]
		board := strings.HasPrefix(known, "Jetson") && (v.OS != "linux" || v.Arch != "aarch64")
		if (known == "" || board) && !chosen(v.GPUs, g) {
			continue // nothing is sold under it, or not for such a machine
		}
		out = append(out, generation(g, a.Name, known))
	}
	gfx := text.Each(m.ROCm, func(t matrix.ROCmTarget) Row {
		return generation(machine.GPU{Vendor: machine.AMD, Name: "AMD " + t.GFX, GFX: t.GFX}, "AMD", t.Names)
	})
	slices.SortStableFunc(gfx, func(a, b Row) int { return cmp.Or(len(b.Code)-len(a.Code), strings.Compare(b.Code, a.Code)) })
	gfx = slices.CompactFunc(gfx, func(a, b Row) bool { return a.Code == b.Code })
	out = append(out, gfx...)
	return append(out,
		generation(machine.GPU{Vendor: machine.Intel, Name: "Intel Arc B580"}, "Intel", "Arc, Data Center GPU Max"),
		generation(machine.GPU{Vendor: machine.Apple, Name: "Apple GPU", Integrated: true}, "Apple", "M1 and newer"))
}
