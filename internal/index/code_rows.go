package index

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// harvestMost is how many bytes of libraries a harvest reads of one wheel: what is larger
// is read at its head.
const harvestMost = 160 << 20

// wholeMost bounds what is read of a wheel of which all counts.
const wholeMost = 2 << 30

// Codes reads a wheel of every release and platform of a package from a day on, that of
// the newest Python, but what known holds; the newest release first.
func (c *Client) Codes(ctx context.Context, name, since string, known func(v version.Python, os, arch string) bool, progress func(done, total int, file string)) ([]*Code, error) {
	page, err := c.Project(ctx, name)
	if err != nil {
		return nil, err
	}
	jobs := wheelOfEach(page, since, known)
	read := func(jobs []File, most int64) ([]*Code, error) {
		return Each(ctx, len(jobs), func(ctx context.Context, i int) (*Code, error) { return c.Code(ctx, jobs[i], most) },
			func(done int, k *Code) { progress(done, len(jobs), k.File) })
	}
	if one, err := read(jobs[:min(1, len(jobs))], harvestMost); err != nil {
		return nil, err
	} else if len(one) > 0 && !one[0].Alone {
		if c.torches, err = c.readExports(ctx); err != nil {
			return nil, err
		}
	}
	all, err := read(jobs, harvestMost)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *Code) int {
		return cmp.Or(strings.Compare(a.OS+a.Arch, b.OS+b.Arch), newerFirst(a.Version, b.Version))
	})
	err = c.whole(all, jobs, read)
	fromOthers(all)
	return all, err
}

// fromOthers adds to wheels what those of the same release for another system say: which CUDA
// is in a static library, and what a DLL wants of c10, whose names are others there.
func fromOthers(all []*Code) {
	for _, k := range all {
		other := func(says func(*Code) string) string {
			o, _ := xslices.Find(all, func(o *Code) bool { return o.Version == k.Version && says(o) != "" })
			return says(cmp.Or(o, k))
		}
		if k.CUDA == "" && k.Native != "" {
			k.CUDA = other(func(o *Code) string { return o.CUDA })
		}
		if k.OS == "windows" && !k.Alone {
			k.Torch = strings.Trim(k.Torch+","+other(func(o *Code) string { return o.symbols }), ",")
		}
	}
}

// whole reads the rest of what was too large, for the GPU code in it, and for its CUDA and
// its torch where they stand nowhere: the newest and the oldest of releases that are the same
// as far as was read. What both are all of them are; else all are read.
func (c *Client) whole(all []*Code, jobs []File, read func([]File, int64) ([]*Code, error)) error {
	for from, to := 0, 0; from < len(all); from = to {
		for to = from; to < len(all) && all[to].same(all[from]); to++ {
		}
		group := all[from:to]
		if !group[0].Partial || group[0].OS != "linux" && group[0].OS != "windows" {
			continue
		}
		fill := func(list ...*Code) error {
			got, err := read(xslices.Filter(jobs, func(f File) bool {
				return slices.ContainsFunc(list, func(k *Code) bool { return k.File == f.Name })
			}), wholeMost)
			for i := 0; err == nil && i < len(got); i++ {
				*list[slices.IndexFunc(list, func(k *Code) bool { return k.File == got[i].File })] = *got[i]
			}
			return err
		}
		first, last := group[0], group[len(group)-1]
		if err := fill(first, last); err != nil {
			return err
		}
		if !first.same(last) {
			if err := fill(group[1 : len(group)-1]...); err != nil {
				return err
			}
			continue
		}
		for _, k := range group {
			file, v := k.File, k.Version
			*k = *first
			k.File, k.Version = file, v
		}
	}
	return nil
}

func wheelOfEach(page *Project, since string, known func(v version.Python, os, arch string) bool) []File {
	var files []File
	at := map[string]int{}
	for _, f := range page.Files {
		n, ok := ParseName(f.Name)
		if !ok {
			continue
		}
		v, err := version.ParsePython(n.Version)
		os, arch := n.Platform()
		if err != nil || f.Yanked || f.Uploaded != "" && f.Uploaded < since || v.IsPreRelease() ||
			n.Tags[0] != "any" && (os == "" || arch == "") || strings.HasPrefix(n.Tags[0], "musl") || known(v, os, arch) {
			continue
		}
		key := n.Version + " " + os + " " + arch
		if i, twice := at[key]; !twice {
			at[key] = len(files)
			files = append(files, f)
		} else if o, _ := ParseName(files[i].Name); compareTags(o.Pythons[0], n.Pythons[0]) < 0 {
			files[i] = f
		}
	}
	return files
}

// CodeRows writes what was read as a file of the data: a row for releases next to each
// other of which the same is known; what comes after them is theirs where all were asked for.
func CodeRows(m *matrix.Matrix, of pep508.Requirement, codes []*Code, day string) text.Quoted {
	var d text.Doc
	name := of.Name + say.With(` "`, of.Spec.String(), `"`)
	d.Add("# What wheels of %s ask of torch, of CUDA and of a GPU, by their bytes: METADATA, the\n"+
		"# dynamic sections of the libraries, the fat binaries in them. Each row names a file that was read.\n"+
		"# Written by: envfix matrix harvest %s\nformat: 1\nproof: wheel\n\nsources:\n  read: %s\n", text.Comment(of.Name), text.Comment(name), text.JSON("wheels of the default index, read "+day))
	for _, table := range []string{"extensions", "frameworks"} {
		head := false
		for from, to := 0, 0; from < len(codes); from = to {
			for to = from; to < len(codes) && codes[to].same(codes[from]); to++ {
			}
			newest := of.Spec.IsZero() && !slices.ContainsFunc(codes, func(k *Code) bool { return newerFirst(k.Version, codes[from].Version) < 0 })
			row := codes[from].row(m, codes[from:to], table, newest)
			if row == (text.Quoted{}) {
				continue
			}
			if !head {
				d.Add("\n%s:\n", text.Word(table))
				head = true
			}
			d.Add("- %s # %s\n", row, text.Comment(codes[from].File))
		}
	}
	return d.Quoted()
}

// same reports whether two wheels differ in their release alone.
func (k *Code) same(o *Code) bool {
	a, b := *k, *o
	a.File, a.Version, b.File, b.Version = "", "", "", ""
	return a == b
}

// row is the row of a table for wheels of which the same is known; nothing where they have
// none in it. A framework's newest row is for what comes as well.
func (k *Code) row(m *matrix.Matrix, of []*Code, table string, newest bool) text.Quoted {
	e, f := k.Rows(m, "")
	on := strings.Trim(k.OS+"-"+k.Arch, "-")
	if table == "frameworks" {
		if f == nil {
			return text.Quoted{}
		}
		versions := ">=" + of[len(of)-1].Version
		versions += say.If(!newest, ",<="+k.Version)
		fields := []field{quoted("package", f.Package), quoted("source", "read"), quoted("ask", f.Ask), quoted("on", on), quoted("versions", versions), quoted("cuda", f.CUDA),
			quoted("driver", f.Driver.String()), quoted("driver_windows", f.DriverWin.String()), quoted("plain", f.Plain),
			quoted("cudnn", f.CuDNN.String()), quoted("warning", f.Warning), quoted("api", f.API)}
		if f.Apart {
			fields = append(fields, field{"apart", text.Const("true")})
		}
		if !f.MinSM.IsZero() {
			fields = append(fields, quoted("min_sm", f.MinSM.String()))
		}
		return flow(fields...)
	}
	if k.Alone && k.CUDA == "" && k.Native == "" {
		return text.Quoted{}
	}
	versions := text.Each(of, func(o *Code) string { return o.Version })
	var other field
	if e.Proof != matrix.ByWheel {
		other = quoted("proof", string(e.Proof))
	}
	return flow(quoted("package", e.Package), quoted("source", "read"), quoted("on", on), quoted("versions", strings.Join(versions, " ")), quoted("torch", e.Torch.String()),
		quoted("cuda", e.CUDA), quoted("fails", e.Fails), quoted("cubins", matrix.Codes(e.Native)),
		quoted("ptx", matrix.Codes(e.PTX)), quoted("notes", e.Note), other)
}
