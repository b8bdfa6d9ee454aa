package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/matrix"
)

// YAML writes the draft as a data/torch/X.Y.yaml, ready for review. from says
// which index was read, day when.
func (d *Draft) YAML(from, day string) []byte {
	var b strings.Builder
	r := d.Release
	minor := r.Torch.String()
	if p := strings.SplitN(minor, ".", 3); len(p) == 3 {
		minor = p[0] + "." + p[1]
	}
	fmt.Fprintf(
		&b,
		"# PyTorch %s: what the wheels of one index say. A draft: builds on other indexes\n# are missing, and indexes are named as PyTorch names them.\n",
		minor,
	)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "# review: %s\n", n)
	}
	fmt.Fprintf(
		&b,
		"format: 1\ntorch: %q\nproof: metadata\nindexes: \"https://download.pytorch.org/whl/\"\n\nsources:\n  wheel: %q\n\nsets:\n  wheel: {proof: wheel, source: wheel}\n",
		minor,
		"wheel bytes of "+from+", read "+day,
	)
	rows := d.sets(&b)
	fmt.Fprintf(&b, "\nreleases:\n- torch: %q\n  date: %q\n  source: wheel\n", r.Torch, r.Date)
	var companions []string
	for _, name := range slices.Sorted(maps.Keys(r.Companions)) {
		companions = append(companions, fmt.Sprintf("%s: %q", name, r.Companions[name]))
	}
	fmt.Fprintf(&b, "  companions: {%s}\n  builds:\n", strings.Join(companions, ", "))
	for _, row := range rows {
		b.WriteString("  - " + row + "\n")
	}
	return []byte(b.String())
}

// sets writes the named sets that the builds share, and returns the builds' rows.
func (d *Draft) sets(out *strings.Builder) []string {
	names := map[string]string{} // text of a set → its name
	taken := map[string]int{}
	set := func(hint, text string) string {
		if n, ok := names[text]; ok {
			return n
		}
		taken[hint]++
		name := hint
		if n := taken[hint]; n > 1 {
			name = fmt.Sprintf("%s-%d", hint, n)
		}
		names[text] = name
		fmt.Fprintf(out, "  %s: %s\n", name, text)
		return name
	}
	var rows []string
	for _, b := range d.Release.Builds {
		platform := set(b.OS+"-"+b.Arch, flow(
			field{"os", b.OS},
			field{"arch", quoted(b.Arch)},
			field{"python", quoted(b.PythonMin.String() + " - " + b.PythonMax.String())},
			field{
				"free_threaded",
				quoted(strings.Join(b.FreeThreaded, " ")),
			},
			field{"glibc", quoted(b.Glibc.String())},
			field{"macos", quoted(b.MacOSMin.String())},
		))
		stack := set(b.Label, flow(
			field{
				"build",
				quoted(b.Label),
			},
			field{"index", quoted(strings.TrimPrefix(b.Index, "https://download.pytorch.org/whl/"))},
			field{"cuda", quoted(b.CUDA.String())},
			field{"cudnn", quoted(b.CuDNN.String())},
			field{"nccl", quoted(b.NCCL.String())},
			field{"triton", quoted(b.Triton.String())},
			field{"cubins", quoted(dotCodes(b.Native))},
			field{"ptx", quoted(dotCodes(b.PTX))},
			field{"pins", mapping(d.Pins[b])},
		))
		fields := []field{{"use", quoted(stack + " " + platform + " wheel")}}
		if b.Default {
			fields = append(fields, field{"default", "true"})
		}
		rows = append(rows, flow(append(fields, field{"companions", mapping(b.Companions)})...))
	}
	return rows
}

type field struct{ key, value string }

// flow writes {key: value, …} without what is empty.
func flow(fields ...field) string {
	var parts []string
	for _, f := range fields {
		if f.value != "" {
			parts = append(parts, f.key+": "+f.value)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

func mapping(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s: %q", k, m[k]))
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func dotCodes(codes []matrix.Code) string {
	var words []string
	for _, c := range codes {
		words = append(words, c.SM.String()+c.Suffix)
	}
	return strings.Join(words, " ")
}
