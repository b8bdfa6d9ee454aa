package places

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// jetson: a generic wheel on a Jetson.
func jetson(e *evidence.Evidence, out *evidence.Findings) {
	if e.Machine.Platform.Environment != machine.Jetson {
		return
	}
	said, trouble := e.None(e.Limit("jetson-trouble").Values...)
	if trouble || e.Torch.NoCUDA {
		out.Find("ARC014", evidence.Likely.Exact(), e.Place.Jetson, e.Place.L4TAt, said, e.Torch.AvailableAt).Do(jetsonWays(e)...)
	}
}

// jetsonWays are where the builds for this Jetson are: its JetPack decides, and a board
// runs but some of them.
func jetsonWays(e *evidence.Evidence) []string {
	generation := e.JetPack()
	var out []string
	for _, row := range e.Limit("jetpack-wheels").Values {
		f := strings.SplitN(row, " ", 4) // JetPack, the boards it runs on, its Python, what to do
		if len(f) != 4 || generation != 0 && strconv.Itoa(generation) != f[0] || generation == 0 && !boardRuns(e, f[1]) {
			continue
		}
		out = append(out, fmt.Sprintf("JetPack %s, with its own Python %s: %s", f[0], f[2], f[3]))
	}
	if generation == 0 {
		out = append(out, "`cat /etc/nv_tegra_release` says which: R32 is JetPack 4, R35 is 5, R36 is 6, R38 is 7")
	}
	return append(out, "on the board `envfix doctor` says what is there")
}

// boardRuns reports whether one of these capabilities may be that of the board.
func boardRuns(e *evidence.Evidence, capabilities string) bool {
	g := e.GPU().First(machine.NVIDIA)
	return g == nil || g.SM.IsZero() || slices.Contains(strings.Split(capabilities, ","), g.SM.String())
}
