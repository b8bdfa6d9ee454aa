package matrix

import (
	"strings"
	"testing"
	"testing/fstest"
)

const filesOf291 = `format: 1
wheels:
- {torch: "2.9.1", arch: "x86_64", count: 7, bytes: 6298338866, sha256: "1b0ef6bbdd5e3c2dd0d66fcaff1fece67f460e6b79d3e6650db77b7b913080f8"}
`

// A release that is made of another one's rows brings its proof and its hashes along.
func TestCopiedRelease(t *testing.T) {
	release := good["torch/2.9.yaml"]
	copied := strings.NewReplacer(`torch: "2.9"`, `torch: "2.10"`, "2.9.1", "2.10.0", "0.24.1", "0.25.0").Replace(release)
	row := strings.Split(filesOf291, "\n")[2]
	same := strings.Replace(row, "2.9.1", "2.10.0", 1)
	for name, c := range map[string]struct{ torch, files, want string }{
		"both read":      {copied, filesOf291 + strings.Replace(same, "1b0ef6", "2c0ef6", 1), ""},
		"proof copied":   {copied, filesOf291, "data/torch/2.10.yaml:14: cu126 is proven by its wheels, and wheels.yaml knows none of torch 2.10.0 for linux x86_64"},
		"said otherwise": {strings.Replace(copied, "proof: wheel", "proof: inferred", 1), filesOf291, ""},
		"hashes copied":  {copied, filesOf291 + same, "data/wheels.yaml:4: the files of torch 2.10.0 have the hash of those of torch 2.9.1"},
	} {
		fsys := changed(t, "torch/2.10.yaml", "", c.torch)
		m, _ := read(fsys, false)
		fsys[WheelsFile] = &fstest.MapFile{Data: []byte(c.files)}
		var got []string
		for _, f := range checkWheels(fsys, m) {
			got = append(got, f.String())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A capability that a device has and no row of arches.yaml knows is judged without its
// first driver and its first CUDA.
func TestDeviceWithoutArch(t *testing.T) {
	fsys := changed(t, "matrix.yaml", "format", "format")
	fsys["devices.tsv"] = &fstest.MapFile{Data: []byte("chip\tGX100\tNext\t13.0\t\nchip\tGA100\tAmpere\t8.0\t\n")}
	fsys["names.tsv"] = &fstest.MapFile{Data: []byte("")}
	m, _ := read(fsys, false)
	var got []string
	for _, f := range checkDevices(fsys, m) {
		got = append(got, f.String())
	}
	if want := "data/devices.tsv:1: GX100 has the capability 13.0, which has no row in arches.yaml"; strings.Join(got, "\n") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDay(t *testing.T) {
	m := &Matrix{Date: "2026-11-21", Releases: []*Release{{Date: "2026-12-02"}, {Date: "2026-10-28"}}}
	for clock, want := range map[string]string{"2026-11-23": "2026-11-23", "1970-01-01": "2026-11-21", "": "2026-11-21"} {
		if got := m.Day(clock); got != want {
			t.Errorf("%q: %s, want %s", clock, got, want)
		}
	}
	if n := len(m.Until(m.Day("1970-01-01")).Releases); n != 1 {
		t.Errorf("%d releases are there on the day of the data", n)
	}
}
