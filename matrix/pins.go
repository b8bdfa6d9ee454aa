package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/version"
)

// PinsFile is the file of data/ that EncodePins writes.
const PinsFile = "pins.yaml"

// EncodePins writes what wheels ask of torch and of CUDA: a row for all releases of a
// package that ask for the same.
func EncodePins(rows []Extension, day string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What the wheels of packages beside torch ask of torch and of CUDA, of releases that
# extensions.yaml and extensions_older.yaml have no row for: by METADATA, and by the
# libraries in them (proof: wheel). Their GPU code was not read.
# Written by: envfix matrix harvest --pins data
format: 1

sources:
  wheels: "wheels of the default index, read until %s"

extensions:
`, day)
	var order []string
	versions := map[string][]version.Python{}
	for _, e := range rows {
		var row strings.Builder
		fmt.Fprintf(&row, "{package: %q, source: wheels, proof: %s", e.Package, e.Proof)
		for _, x := range []struct{ key, value string }{
			{"on", strings.TrimSuffix(e.OS+"-"+e.Arch, "-")}, {"torch", e.Torch.String()}, {"cuda", e.CUDA},
			{"builds", strings.Join(e.TorchLabels, " ")}, {"min_sm", minSM(e)}, {"needs", strings.Join(e.Needs, " ")}, {"fails", e.Fails}} {
			if x.value != "" {
				fmt.Fprintf(&row, ", %s: %q", x.key, x.value)
			}
		}
		key := row.String()
		if versions[key] == nil {
			order = append(order, key)
		}
		versions[key] = append(versions[key], e.Version)
	}
	slices.SortStableFunc(order, func(a, b string) int { return strings.Compare(packageOf(a), packageOf(b)) })
	for _, key := range order {
		list := versions[key]
		slices.SortFunc(list, func(a, b version.Python) int { return b.Compare(a) })
		var words []string
		for _, v := range slices.CompactFunc(list, func(a, b version.Python) bool { return a.Compare(b) == 0 }) {
			words = append(words, v.String())
		}
		fmt.Fprintf(&b, "- %s, versions: %q}\n", key, strings.Join(words, " "))
	}
	return b.Bytes()
}

func minSM(e Extension) string {
	if e.MinSM.IsZero() {
		return ""
	}
	return e.MinSM.String()
}

func packageOf(row string) string { return strings.SplitN(row, `"`, 3)[1] }
