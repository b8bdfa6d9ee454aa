package matrix

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
)

func embedded(t testing.TB) *Matrix {
	t.Helper()
	m := Embedded()
	return m
}

// stackRows reads testdata/stack_by_gpu.csv: which GPUs the libraries of a build
// serve.
func stackRows(t *testing.T) []map[string]string {
	t.Helper()
	f, err := os.Open("testdata/stack_by_gpu.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, l := range lines[1:] {
		r := map[string]string{}
		for i, c := range lines[0] {
			r[c] = l[i]
		}
		rows = append(rows, r)
	}
	return rows
}

// TestWholeStack holds the rules for libraries against a table that was made from
// the wheels' bytes by other means, on 2026-11-21.
func TestWholeStack(t *testing.T) {
	m := embedded(t)
	rows := stackRows(t)
	for _, r := range rows {
		rel, ok := m.Release(r["torch"])
		if !ok {
			t.Fatalf("no torch %s", r["torch"])
		}
		b, ok := rel.Build(r["variant"], "linux", r["arch"])
		if !ok {
			t.Fatalf("no %s %s", r["torch"], r["variant"])
		}
		name, _, _ := strings.Cut(r["gpu"], " ")
		for _, cc := range strings.Split(name, "/") {
			got := stackRow(m, b, machine.MustSM(cc))
			want := []string{r["torch_code"], r["core_stack"], sorted(r["core_only_ptx"]), pinned(m, b, r["optional_missing"])}
			got[3] = scannedThen(m, b, got[3])
			if want[0] == "no" {
				want[2], got[2] = "", "" // the table lists libraries that the answer does not depend on
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s %s on %s: %q, want %q", r["torch"], r["variant"], r["arch"], cc, got, want)
			}
			if !strings.HasPrefix(r["torch_compile"], "no: ptxas") {
				continue
			}
			p := slices.IndexFunc(m.Ptxas, func(p Ptxas) bool { return p.Triton.String() == r["triton"] && p.Arch == b.Arch })
			if p >= 0 && slices.Contains(m.Ptxas[p].Served, machine.MustSM(cc)) {
				t.Errorf("triton %s serves %s; the table says %s", r["triton"], cc, r["torch_compile"])
			}
		}
	}
	t.Logf("%d rows", len(rows))
}

// scannedThen drops the libraries that were read after the table was made: those
// of stack.yaml.
func scannedThen(m *Matrix, b *Build, list string) string {
	var out []string
	for _, name := range strings.Fields(list) {
		later := slices.ContainsFunc(m.Stack(b), func(p Pinned) bool {
			return p.Package == name && p.Library != nil && strings.HasPrefix(p.Library.Source, "data/"+StackFile+":")
		})
		if !later {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// pinned keeps the libraries that a build is known to pin: the table also has
// those of its sister builds.
func pinned(m *Matrix, b *Build, list string) string {
	var out []string
	for _, p := range m.Stack(b) {
		if slices.Contains(strings.Fields(list), p.Package) {
			out = append(out, p.Package)
		}
	}
	return sorted(strings.Join(out, " "))
}

func sorted(s string) string {
	w := strings.Fields(s)
	slices.Sort(w)
	return strings.Join(w, " ")
}

// stackRow is a row of the table: torch's own code, the core stack, the libraries
// that have only PTX, the further ones that have nothing.
func stackRow(m *Matrix, b *Build, sm machine.SM) []string {
	native, ptx := m.Covers(b.Native, b.PTX, sm)
	code := "no"
	if native {
		code = "cubin"
	} else if ptx {
		code = "ptx"
	}
	core := "yes"
	var jit, missing []string
	for _, p := range m.Stack(b) {
		if p.Library == nil {
			continue
		}
		n, j := m.Covers(p.Library.Native, p.Library.PTX, sm)
		switch {
		case n:
		case p.Core && j:
			jit = append(jit, p.Package)
			core = "ptx"
		case p.Core:
			core = "no"
		case !j:
			missing = append(missing, p.Package)
		}
	}
	if code == "no" {
		core = "no"
	}
	slices.Sort(jit)
	slices.Sort(missing)
	return []string{code, core, strings.Join(jit, " "), strings.Join(missing, " ")}
}
