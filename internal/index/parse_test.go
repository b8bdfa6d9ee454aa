package index

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/text"

	"github.com/google/go-cmp/cmp"
)

const hash = "df005dff3e3f12911630e48e0e75d3594a424a317d785b49426c23d0810a4682"

func TestParsePageHTML(t *testing.T) {
	page := `<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.4"><title>Links for torch</title></head>
<!-- <a href="hidden-1-py3-none-any.whl">hidden-1-py3-none-any.whl</a> -->
<a href="/whl/cu126/torch-2.9.1%2Bcu126-cp312-cp312-manylinux_2_28_x86_64.whl#sha256=` + strings.ToUpper(hash) + `" data-requires-python="&gt;=3.10" data-core-metadata="sha256=` + hash + `">torch-2.9.1+cu126-cp312-cp312-manylinux_2_28_x86_64.whl</a><br/>
<A HREF='../../files/torch-2.9.0-py3-none-any.whl#md5=0123' data-yanked="broken">torch-2.9.0-py3-none-any.whl</A>
<a href=torch-2.8.0-py3-none-any.whl data-dist-info-metadata=true>
   torch-2.8.0-py3-none-any.whl
</a>
<a href="https://[bad/torch-1-py3-none-any.whl">torch-1-py3-none-any.whl</a>
<a href="http://index.example/torch-2-py3-none-any.whl">torch-2-py3-none-any.whl</a>
<a href="file:///etc/passwd">torch-3-py3-none-any.whl</a>
<a href="x.whl">torch-4` + "\x1b" + `[2J.whl</a>
<a name="no link">nothing</a>`
	got, err := ParsePage("Torch_", "https://me:secret@index.example/whl/cu126/torch/", "text/html; charset=utf-8", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	want := &Project{Name: "torch", Files: []File{
		{Name: "torch-2.9.1+cu126-cp312-cp312-manylinux_2_28_x86_64.whl", URL: "https://index.example/whl/cu126/torch-2.9.1%2Bcu126-cp312-cp312-manylinux_2_28_x86_64.whl", SHA256: hash, RequiresPython: ">=3.10", HasMetadata: true, MetadataSHA256: hash},
		{Name: "torch-2.9.0-py3-none-any.whl", URL: "https://index.example/whl/files/torch-2.9.0-py3-none-any.whl", Yanked: true},
		{Name: "torch-2.8.0-py3-none-any.whl", URL: "https://index.example/whl/cu126/torch/torch-2.8.0-py3-none-any.whl", HasMetadata: true},
	}, Notes: []string{
		"torch-2.9.0-py3-none-any.whl: the page gives a hash, but no sha256",
		"torch-1-py3-none-any.whl: its address cannot be used",
		"torch-2-py3-none-any.whl: left out, its address drops from https to http",
		"torch-3-py3-none-any.whl: its address cannot be used",
		"a file with an odd name was left out: torch-4.whl",
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParsePageJSON(t *testing.T) {
	page := `{"meta": {"api-version": "1.4", "_more": 1}, "name": "torch", "files": [
		{"filename": "torch-2.9.1-py3-none-any.whl", "url": "https://files.example/torch-2.9.1-py3-none-any.whl", "hashes": {"sha256": "` + hash + `"}, "requires-python": ">=3.10", "size": 12, "yanked": false, "upload-time": "2025-11-12T00:00:00Z", "core-metadata": {"sha256": "` + hash + `"}},
		{"filename": "torch-2.9.0-py3-none-any.whl", "url": "/f/torch-2.9.0-py3-none-any.whl", "hashes": {"sha256": "abc"}, "size": -1, "yanked": "broken", "dist-info-metadata": true},
		{"filename": "torch-2.8.0-py3-none-any.whl", "url": "/f/torch-2.8.0-py3-none-any.whl", "hashes": {"md5": "abc"}, "core-metadata": false}]}`
	got, err := ParsePage("torch", "https://index.example/simple/torch/", "application/vnd.pypi.simple.v1+json", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	want := &Project{Name: "torch", Files: []File{
		{Name: "torch-2.9.1-py3-none-any.whl", URL: "https://files.example/torch-2.9.1-py3-none-any.whl", SHA256: hash, Size: 12, RequiresPython: ">=3.10", Uploaded: "2025-11-12T00:00:00Z", HasMetadata: true, MetadataSHA256: hash},
		{Name: "torch-2.9.0-py3-none-any.whl", URL: "https://index.example/f/torch-2.9.0-py3-none-any.whl", Yanked: true, HasMetadata: true},
		{Name: "torch-2.8.0-py3-none-any.whl", URL: "https://index.example/f/torch-2.8.0-py3-none-any.whl"},
	}, Notes: []string{"torch-2.9.0-py3-none-any.whl: its sha256 on the page is not one", "torch-2.8.0-py3-none-any.whl: the page gives a hash, but no sha256"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPagesThatAreNone(t *testing.T) {
	for name, tt := range map[string]struct{ kind, body, want string }{
		"broken JSON":  {"application/json", `{"files": [`, "not the JSON of a simple index"},
		"other JSON":   {"application/json", `[1]`, "not the JSON of a simple index"},
		"newer":        {"application/json", `{"meta": {"api-version": "2.0"}}`, "speaks version 2.0"},
		"newer HTML":   {"text/html", `<meta name="pypi:repository-version" content="2.1">`, "speaks version 2.1"},
		"endless":      {"text/html", strings.Repeat(`<a href="a-1-py3-none-any.whl">a-1-py3-none-any.whl</a>`, maxFiles+1), "more than 50000 files"},
		"JSON by look": {"", ` {"meta": {"api-version": "3"}}`, "speaks version 3"},
	} {
		if _, err := ParsePage("a", "https://index.example/", tt.kind, []byte(tt.body)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestParseName(t *testing.T) {
	for file, want := range map[string][]string{
		"torch-2.15.0-cp314-cp314t-manylinux_2_28_x86_64.whl":                            {"2.15.0", "", "linux", "x86_64", "3.14t", "2.28"},
		"torch-2.9.1+cu126-cp310-cp310-manylinux_2_17_aarch64.manylinux2014_aarch64.whl": {"2.9.1", "cu126", "linux", "aarch64", "3.10", "2.17"},
		"torch-2.0.0-1-cp38-cp38-manylinux2014_aarch64.whl":                              {"2.0.0", "", "linux", "aarch64", "3.8", "2.17"},
		"torch-1.12.0-cp37-cp37m-manylinux1_x86_64.whl":                                  {"1.12.0", "", "linux", "x86_64", "3.7", "2.5"},
		"torch-2.2.2-cp312-none-macosx_10_9_x86_64.whl":                                  {"2.2.2", "", "macos", "x86_64", "3.12", ""},
		"torch-2.15.0-cp312-cp312-win_amd64.whl":                                         {"2.15.0", "", "windows", "x86_64", "3.12", ""},
		"torch-2.15.0-cp312-cp312-win_arm64.whl":                                         {"2.15.0", "", "windows", "arm64", "3.12", ""},
		"triton-3.9.0-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":        {"3.9.0", "", "linux", "x86_64", "3.12", "2.27"},
		"flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl":         {"2.8.3", "cu12torch2.8cxx11abiTRUE", "linux", "x86_64", "3.12", ""},
		"nvidia_cudnn_cu13-9.26.0.51-py3-none-manylinux_2_27_x86_64.whl":                 {"9.26.0.51", "", "linux", "x86_64", "", "2.27"},
		"torch-2.15.0-cp312-cp312.whl":                                                   nil,
		"torch-2.15.0-x1-cp312-cp312-win_amd64.whl":                                      nil,
		"torch-2.15.0.tar.gz":                                                            nil,
		"torch-2.15.0--cp312-win_amd64.whl":                                              nil,
		"../torch-2.15.0-cp312-cp312-win_amd64.whl":                                      nil,
		"torch-2.15.0-cp312-cp312-manylinux_\u202ewin.whl":                               nil,
		"torch-2.15.0-cp312-cp312-win_amd64.whl\n":                                       nil,
		strings.Repeat("a", 400) + "-1-py3-none-any.whl":                                 nil,
		"torch-2.10.0-99999999999999999999-cp312-cp312-manylinux_2_28_x86_64.whl":        nil,
		"torchvision-0.29.2-py3-none-manylinux_2_28_x86_64.whl":                          {"0.29.2", "", "linux", "x86_64", "", "2.28"},
		"torch-2.15.0-cp312.cp313-cp312-manylinux_2_28_x86_64.whl":                       {"2.15.0", "", "linux", "x86_64", "", "2.28"},
	} {
		n, ok := ParseName(file)
		var got []string
		if ok {
			os, arch := n.Platform()
			got = []string{n.Version, n.Label, os, arch, n.Interpreter(), n.Glibc().String()}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

func TestArchLists(t *testing.T) {
	for text, want := range map[string]string{
		"\x00sm_75 sm_80 compute_90\x00":        "sm_75 sm_80 compute_90",
		"ipc_hsm_70 sm_75\x00":                  "sm_70 sm_75",
		"sm_100a sm_103f sm_120\x00":            "sm_100a sm_103f sm_120",
		"sm_75\x00 one alone is no list":        "",
		"sm_75 sm_80":                           "",
		"sm_75 sm_80 \x00":                      "",
		"sm_75  sm_80\x00":                      "",
		"sm_7 sm_8\x00":                         "",
		"sm_75, sm_80\x00":                      "",
		"sm_75 sm_80 and so on sm_86 sm_90\x00": "sm_86 sm_90",
	} {
		if got := findArchList([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	// Cut anywhere, the list is found.
	whole := strings.Repeat("x", 5000) + "\x00" + archList + "\x00" + strings.Repeat("y", 100)
	for cut := 4990; cut < 5050; cut++ {
		s := &soScan{}
		_ = s.feed([]byte(whole[:cut]))
		_ = s.feed([]byte(whole[cut:]))
		if s.list != archList {
			t.Fatalf("cut at %d: %q", cut, s.list)
		}
	}
}

// fatbinary builds what nvcc puts into a shared object.
func fatbinary(entries ...[]byte) []byte {
	var body []byte
	for _, e := range entries {
		body = append(body, e...)
	}
	b := []byte(fatMagic)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	return append(b, body...)
}

func fatEntryOf(kind uint16, arch uint32, flags uint64, payload int) []byte {
	b := make([]byte, 64, 64+payload)
	binary.LittleEndian.PutUint16(b, kind)
	binary.LittleEndian.PutUint32(b[4:], 64)
	binary.LittleEndian.PutUint64(b[8:], uint64(payload))
	binary.LittleEndian.PutUint32(b[28:], arch)
	binary.LittleEndian.PutUint64(b[40:], flags)
	return append(b, bytes.Repeat([]byte("p"), payload)...)
}

func TestFatbins(t *testing.T) {
	lib := bytes.Repeat([]byte("host code "), 300)
	lib = append(lib, fatbinary(fatEntryOf(kindCubin, 75, 0, 2000), fatEntryOf(kindCubin, 90, flagArch, 100), fatEntryOf(kindPTX, 120, 0, 70), fatEntryOf(8, 90, 0, 10))...)
	lib = append(lib, "between"...)
	lib = append(lib, fatbinary(fatEntryOf(kindCubin, 75, 0, 64), fatEntryOf(kindCubin, 100, flagFamily, 5000))...)
	lib = append(lib, fatMagic...) // a magic number without a fat binary behind it
	lib = append(lib, bytes.Repeat([]byte{0xff}, 40)...)
	want := Fatbins{Count: 2, Native: map[string]int{"7.5": 2, "9.0a": 1, "10.0f": 1}, PTX: map[string]int{"12.0": 1}}
	for _, size := range []int{1, 7, 64, 1000, 1 << 20} {
		s := newFatScan()
		for rest := lib; len(rest) > 0; {
			n := min(size, len(rest))
			_ = s.feed(rest[:n])
			rest = rest[n:]
		}
		if d := cmp.Diff(want, s.found); d != "" {
			t.Errorf("in pieces of %d: %s", size, d)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("text/html", []byte(`<a href="a.whl#sha256=00" data-yanked>a-1-py3-none-any.whl</a>`))
	f.Add("application/json", []byte(`{"files": [{"filename": "a-1-py3-none-any.whl", "url": "a", "hashes": {}}]}`))
	f.Add("text/html", []byte(`<a href=`))
	f.Add("text/html", []byte("<a =\"&#x1b;\" <!--"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		p, err := ParsePage("torch", "https://index.example/simple/torch/", kind, body)
		if err != nil {
			return
		}
		for _, file := range p.Files {
			if !plainName(file.Name) || !strings.HasPrefix(file.URL, "https://") || (file.SHA256 != "" && !IsSHA256(file.SHA256)) {
				t.Errorf("%+v", file)
			}
		}
		for _, n := range p.Notes {
			if n != text.Printable(n) {
				t.Errorf("note %q", n)
			}
		}
	})
}

func FuzzZipDirectory(f *testing.F) {
	w := torchWheel("312").Bytes()
	f.Add(w[len(w)-2000:], int64(len(w)))
	f.Add([]byte(endMagic+strings.Repeat("\x00", 18)), int64(22))
	f.Fuzz(func(t *testing.T, tail []byte, size int64) {
		size = max(size, int64(len(tail)))
		e, err := findDirectory(tail, size)
		if err != nil {
			return
		}
		if e.offset < 0 || e.size < 0 || e.offset+e.size > size || e.count*entrySize > e.size {
			t.Fatalf("%+v of %d", e, size)
		}
		if e.size > int64(len(tail)) {
			return
		}
		for _, bytes := range [][]byte{tail, tail[int64(len(tail))-e.size:]} {
			members, err := readDirectory(bytes, e)
			if err != nil {
				members = lastEntries(bytes, e)
			}
			for _, m := range members {
				if m.offset < 0 || m.compressed < 0 || m.size < 0 || m.offset+m.compressed > e.offset || !wheelPath(m.name) {
					t.Errorf("%+v in %+v", m, e)
				}
			}
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(torchWheel("312").Metadata()))
	f.Add([]byte("Name: a\nVersion: 1\nRequires-Dist: x[y,z] (>=1,<2) ; (python_version < '3' or extra == 'a'\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMetadata(b)
		if err != nil {
			return
		}
		env := pep508.EnvironmentOf("linux", "x86_64", "3.12")
		for _, r := range m.Requires {
			_ = env.Admits(r.Marker)
			_ = m.Pin(env, r.Name)
		}
	})
}

func FuzzVersionFile(f *testing.F) {
	f.Add([]byte(torchWheel("312").Files["torch/version.py"]))
	f.Add([]byte("__version__ = \"2.15.0\"\r\ncuda = None\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x := &Torch{Name: Name{Version: "2.15.0"}}
		if x.readVersion(b) == nil && (x.Version != "2.15.0" || text.Printable(x.Label+x.CUDA) != x.Label+x.CUDA) {
			t.Errorf("%+v", x)
		}
	})
}

func FuzzLibrary(f *testing.F) {
	f.Add([]byte(library(archList)), 100)
	f.Add(fatbinary(fatEntryOf(kindCubin, 75, 0, 10)), 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		size = max(1, min(size, 1<<16))
		so, fat := &soScan{}, newFatScan()
		for rest := b; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_ = so.feed(rest[:min(size, len(rest))])
			_ = fat.feed(rest[:min(size, len(rest))])
		}
		_ = highestGlibc(b)
		if so.list != "" && !bytes.Contains(b, []byte(so.list+"\x00")) {
			t.Errorf("%q is not there", so.list)
		}
	})
}
