package index

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/text"
	"envfix/matrix"
)

// YAML is the draft as a data/torch/X.Y.yaml, ready for review. from says
// which index was read, day when.
func (d *Draft) YAML(from, day string) text.Quoted {
	var out text.Doc
	r := d.Release
	minor := r.Torch.String()
	if p := strings.SplitN(minor, ".", 3); len(p) == 3 {
		minor = p[0] + "." + p[1]
	}
	out.Add("# PyTorch %s: what the wheels of one index say. A draft: builds on other indexes\n# are missing, and indexes are named as PyTorch names them.\n",
		text.Comment(minor))
	for _, n := range d.Notes {
		out.Add("# review: %s\n", text.Comment(n))
	}
	out.Add("format: 1\ntorch: %s\nproof: metadata\nindexes: \"https://download.pytorch.org/whl/\"\n\nsources:\n  wheel: %s\n\nsets:\n"+
		"  wheel: {proof: wheel, source: wheel}\n", text.JSON(minor), text.JSON("wheel bytes of "+from+", read "+day))
	rows := d.sets(&out)
	companions := text.Each(slices.Sorted(maps.Keys(r.Companions)), func(name string) field { return quoted(name, r.Companions[name].String()) })
	out.Add("\nreleases:\n- torch: %s\n  date: %s\n  source: wheel\n  companions: %s\n  builds:\n",
		text.JSON(r.Torch.String()), text.JSON(r.Date), flow(companions...))
	for _, row := range rows {
		out.Add("  - %s\n", row)
	}
	return out.Quoted()
}

// sets writes the named sets that the builds share, and returns the builds' rows.
func (d *Draft) sets(out *text.Doc) []text.Quoted {
	names := map[text.Quoted]string{} // text of a set → its name
	taken := map[string]int{}
	set := func(hint string, of text.Quoted) string {
		if n, ok := names[of]; ok {
			return n
		}
		taken[hint]++
		name := hint
		if n := taken[hint]; n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		names[of] = name
		out.Add("  %s: %s\n", text.Word(name), of)
		return name
	}
	var rows []text.Quoted
	for _, b := range d.Release.Builds {
		platform := set(b.OS+"-"+b.Arch, flow(field{"os", text.Word(b.OS)}, quoted("arch", b.Arch),
			quoted("python", b.PythonMin.String()+" - "+b.PythonMax.String()),
			quoted("free_threaded", strings.Join(b.FreeThreaded, " ")), quoted("glibc", b.Glibc.String()),
			quoted("macos", b.MacOSMin.String())))
		stack := set(b.Label, flow(quoted("build", b.Label),
			quoted("index", strings.TrimPrefix(b.Index, "https://download.pytorch.org/whl/")),
			quoted("cuda", b.CUDA.String()), quoted("cudnn", b.CuDNN.String()),
			quoted("nccl", b.NCCL.String()), quoted("triton", b.Triton.String()),
			quoted("cubins", matrix.Codes(b.Native)), quoted("ptx", matrix.Codes(b.PTX)),
			field{"pins", mapping(d.Pins[b])}))
		fields := []field{quoted("use", stack+" "+platform+" wheel")}
		if b.Default {
			fields = append(fields, field{"default", text.Const("true")})
		}
		rows = append(rows, flow(append(fields, field{"companions", mapping(b.Companions)})...))
	}
	return rows
}

type field struct {
	key   string
	value text.Quoted // of nothing: there is none
}

// flow writes {key: value, …} without what is empty.
func flow(fields ...field) text.Quoted {
	var parts []text.Quoted
	for _, f := range fields {
		if f.value != (text.Quoted{}) {
			parts = append(parts, text.Form("%s: %s", text.Word(f.key), f.value))
		}
	}
	return text.Form("{%s}", text.Join(parts, ", "))
}

func quoted(key, s string) field {
	if s == "" {
		return field{}
	}
	return field{key, text.JSON(s)}
}

func mapping(m map[string]string) text.Quoted {
	fields := text.Each(slices.Sorted(maps.Keys(m)), func(k string) field { return field{k, text.JSON(m[k])} })
	if len(fields) == 0 {
		return text.Quoted{}
	}
	return flow(fields...)
}
