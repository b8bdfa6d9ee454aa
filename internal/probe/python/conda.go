package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// A CondaRecord is one package of a conda environment, as the name of its record
// in conda-meta says.
type CondaRecord struct{ Name, Version, Build string }

// ParseCondaRecord splits name-version-build.json; only the name may contain
// hyphens.
func ParseCondaRecord(file string) (CondaRecord, bool) {
	stem, ok := strings.CutSuffix(file, ".json")
	if !ok {
		return CondaRecord{}, false
	}
	f := strings.Split(text.Printable(stem), "-")
	if len(f) < 3 {
		return CondaRecord{}, false
	}
	n := len(f)
	return CondaRecord{Name: strings.Join(f[:n-2], "-"), Version: f[n-2], Build: f[n-1]}, true
}

// CondaOwner is the package of conda's that brought a file of an environment, as conda is
// asked for it; "" none did.
func CondaOwner(h *sysroot.Host, file string, e Env) string {
	name := []byte(`"` + strings.TrimPrefix(file, e.Dir+"/") + `"`)
	for _, r := range e.Conda {
		record := e.Dir + "/conda-meta/" + r.Name + "-" + r.Version + "-" + r.Build + ".json"
		if bytes.Contains(h.Bytes(record, sysroot.MaxFile), name) {
			return r.Name + "=" + r.Version
		}
	}
	return ""
}

// CondaRoots are the usual places of conda installations.
func CondaRoots(h *sysroot.Host) (out []string) {
	add := func(dir string) {
		if h.Abs(dir) && !slices.Contains(out, dir) && h.IsDir(dir+"/conda-meta") {
			out = append(out, dir)
		}
	}
	if exe := h.Env["CONDA_EXE"]; exe != "" {
		add(path.Dir(path.Dir(exe)))
	}
	add(h.Env["MAMBA_ROOT_PREFIX"])
	for _, base := range []string{h.Home, "/opt", "/usr/local"} {
		for _, name := range []string{"miniforge3", "mambaforge", "miniconda3", "anaconda3", "miniconda", "anaconda", "conda", "micromamba"} {
			add(base + "/" + name)
		}
	}
	return out
}

// CondaPackage returns the version of a package in a conda environment, from the
// name of its record: conda-24.9.2-py312h7900ff3_0.json.
func CondaPackage(h *sysroot.Host, prefix, name string) string {
	for _, file := range h.Names(prefix + "/conda-meta") {
		if p, ok := ParseCondaRecord(file); ok && p.Name == name {
			return p.Version
		}
	}
	return ""
}
