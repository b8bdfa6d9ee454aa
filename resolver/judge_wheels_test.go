package resolver

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/matrix"
)

// drawSeed repeats a draw that failed.
var drawSeed = flag.Int64("draw", 0, "the seed of TestJudgeWheels; 0: a new one each time")

// TestJudgeWheels draws releases of packages whose wheels were read, and machines, and holds
// what is chosen against the facts of the bytes: the torch and the CUDA that the wheel
// wants, the builds that it loads beside, and the code in it. The rules are written here
// once more.
func TestJudgeWheels(t *testing.T) {
	m := matrix.Embedded()
	rows := map[string][]*matrix.Extension{} // by package and release, what was read for Linux or Windows
	for i := range m.Extensions {
		e := &m.Extensions[i]
		if e.Proof == matrix.ByWheel && !e.Sdist && !e.Yanked && (e.OS == "linux" && e.Arch == "x86_64" || e.OS == "windows") {
			key := e.Package + "==" + e.Version.String() + " " + e.OS
			rows[key] = append(rows[key], e)
		}
	}
	keys := make([]string, 0, len(rows))
	for key := range rows {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	seed := cmp.Or(*drawSeed, time.Now().UnixNano())
	t.Logf("`go test ./resolver -run TestJudgeWheels -draw %d` repeats this draw", seed)
	rnd := rand.New(rand.NewSource(seed))
	chosen := 0
	for range 200 {
		key := keys[rnd.Intn(len(keys))]
		wish, system, _ := strings.Cut(key, " ")
		d := drawn{os: system, arch: "x86_64", glibc: "2.39", gpus: []string{pickOf(rnd, "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")},
			driver: pickOf(rnd, "470.82.01", "525.105.17", "535.183.01", "550.90.07", "570.133.07", "580.95.05", "595.45.04")}
		if system == "windows" {
			d.glibc, d.driver = "", pickOf(rnd, "472.12", "528.49", "551.61", "572.83", "581.29", "596.21")
		}
		res, err := Resolve(m, d.machine(), Request{Requirements: parsed(t, wish)})
		if err != nil {
			t.Fatal(err)
		}
		c := res.Choice
		if c == nil || c.CUDA == "" {
			continue
		}
		chosen++
		var against []string
		for _, e := range rows[key] {
			against = append(against, contradicts(e, c, d.gpus[0]))
		}
		if !slices.Contains(against, "") {
			t.Errorf("%s on %s with %s: %s\n\t%s", key, d.gpus[0], d.driver, strings.Join(against, "; "), strings.Join(render(res), "\n\t"))
		}
	}
	if chosen < 60 {
		t.Errorf("%d of 200 were chosen: the draw shows little", chosen)
	}
}

// contradicts says which fact of a wheel speaks against a choice; "" none does.
func contradicts(e *matrix.Extension, c *Choice, cc string) string {
	words := func(list []matrix.Code) string {
		var out []string
		for _, x := range list {
			out = append(out, strings.Replace(x.String(), ".", "", 1))
		}
		return strings.Join(out, " ")
	}
	torch, _ := pep508.Parse("torch=="+c.Torch, "")
	sm, _ := machine.ParseSM(cc)
	switch {
	case c.Torch != "" && !e.Torch.IsZero() && !e.Torch.Overlaps(torch.Spec):
		return fmt.Sprintf("it wants torch%s, and %s was chosen", e.Torch, c.Torch)
	case c.Torch != "" && e.CUDA != "" && number(e.CUDA, 0) != number(c.CUDA, 0):
		return fmt.Sprintf("it is of CUDA %s, and %s was chosen", e.CUDA, c.CUDA)
	case len(e.TorchLabels) > 0 && !slices.Contains(e.TorchLabels, c.Build):
		return fmt.Sprintf("it loads beside %v", e.TorchLabels)
	case len(e.Native)+len(e.PTX) > 0 && !hasCode(words(e.Native), cc) && !hasPTX(words(e.PTX), cc):
		return fmt.Sprintf("its code is %v, PTX %v", e.Native, e.PTX)
	case !e.MinSM.IsZero() && sm.Less(e.MinSM):
		return "it begins with " + e.MinSM.String()
	}
	return ""
}
