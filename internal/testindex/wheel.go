// Package testindex serves tiny wheels on loopback, so that tests can run the
// real pip and the real uv without a network. It is for tests only; nothing of
// the program imports it.
package testindex

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/say"
)

// A Wheel is one built distribution. Name and Version are all that is needed:
// without Files it holds one module of its name.
type Wheel struct {
	Name           string
	Version        string   // with its local label
	Requires       []string // Requires-Dist lines
	RequiresPython string
	Tag            string            // "" means py3-none-any
	Files          map[string]string // path in the wheel → content
	Scripts        map[string]string // console scripts: name → module:function
	Padding        int               // bytes of incompressible ballast
	Sdist          bool              // serve a source distribution that fails to build instead
	Uploaded       string            // RFC 3339; "" means 2026-01-02T03:04:05Z
	Raw            []byte            // the bytes of a real file, served in place of made ones
}

var separators = regexp.MustCompile(`[-_.]+`)

// Normal returns a name as indexes spell it (PEP 503).
func Normal(name string) string {
	return separators.ReplaceAllString(strings.ToLower(name), "-")
}

// Module returns the name of the module that a wheel without Files holds.
func (w Wheel) module() string { return strings.ReplaceAll(Normal(w.Name), "-", "_") }

// Filename returns the wheel's file name (PEP 427).
func (w Wheel) Filename() string {
	if w.Sdist {
		return fmt.Sprintf("%s-%s.tar.gz", w.module(), w.Version)
	}
	tag := w.Tag
	tag = cmp.Or(tag, "py3-none-any")
	return fmt.Sprintf("%s-%s-%s.whl", w.module(), w.Version, tag)
}

// Metadata returns the METADATA file.
func (w Wheel) Metadata() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", w.Name, w.Version)
	if w.RequiresPython != "" {
		fmt.Fprintf(&b, "Requires-Python: %s\n", w.RequiresPython)
	}
	for _, r := range w.Requires {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", r)
	}
	return b.String()
}

// Bytes returns the wheel itself; equal wheels have equal bytes. A Sdist is not
// a readable archive: whoever unpacks it fails.
func (w Wheel) Bytes() []byte {
	if w.Raw != nil {
		return w.Raw
	}
	if w.Sdist {
		return []byte("not an archive: " + w.Filename())
	}
	files, _ := w.files()
	return archive(files)
}

// Record returns the RECORD file.
func (w Wheel) Record() string {
	_, record := w.files()
	return record
}

// files returns what the wheel holds, and its RECORD.
func (w Wheel) files() (all map[string]string, list string) {
	files := maps.Clone(w.Files)
	if len(files) == 0 {
		files = map[string]string{w.module() + "/__init__.py": fmt.Sprintf("__version__ = %q\n", w.Version)}
	}
	info := fmt.Sprintf("%s-%s.dist-info/", w.module(), w.Version)
	tag := strings.TrimSuffix(w.Filename()[strings.Index(w.Filename(), w.Version)+len(w.Version)+1:], ".whl")
	files[info+"METADATA"] = w.Metadata()
	files[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: testindex\nRoot-Is-Purelib: true\nTag: " + tag + "\n"
	if len(w.Scripts) > 0 {
		text := "[console_scripts]\n"
		for _, name := range slices.Sorted(maps.Keys(w.Scripts)) {
			text += name + " = " + w.Scripts[name] + "\n"
		}
		files[info+"entry_points.txt"] = text
	}
	if w.Padding > 0 {
		files[w.module()+"/ballast.bin"] = ballast(w.Padding)
	}
	var record strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		listed := say.Either(strings.ContainsAny(name, `,"`), `"`+strings.ReplaceAll(name, `"`, `""`)+`"`, name)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", listed, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files[info+"RECORD"] = record.String()
	return files, record.String()
}

func archive(files map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if strings.Contains(name, ".data/scripts/") {
			h.SetMode(0o755)
		}
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil { // a bytes.Buffer refuses nothing
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// ballast is a chain of hashes: the same on each call, and deflate cannot
// shorten it.
func ballast(n int) string {
	var b bytes.Buffer
	sum := sha256.Sum256([]byte("ballast"))
	for b.Len() < n {
		b.Write(sum[:])
		sum = sha256.Sum256(sum[:])
	}
	return b.String()[:n]
}

// SHA256 returns the hash of the wheel's bytes in hex.
func (w Wheel) SHA256() string {
	sum := sha256.Sum256(w.Bytes())
	return hex.EncodeToString(sum[:])
}

// Torch returns a stand-in for torch that answers what a verification asks: it
// was built for cuda ("12.6", "" for none) with code for arches, and finds no
// GPU. Its version carries the label: 2.14.1+cu126.
func Torch(version, cuda string, arches ...string) Wheel {
	return TorchBuild{Version: version, Says: version, CUDA: cuda, CuDNN: 91002, Arches: arches}.Wheel()
}

// A TorchBuild describes a stand-in for torch.
type TorchBuild struct {
	Version string // of the wheel: the default index's have no label
	Says    string // torch.__version__, with its label
	CUDA    string
	CuDNN   int // as cuDNN writes it: 91002 is 9.10.2
	Arches  []string
}

// Wheel returns the stand-in.
func (t TorchBuild) Wheel() Wheel {
	cu := say.Either(t.CUDA != "", fmt.Sprintf("%q", t.CUDA), "None")
	return Wheel{
		Name: "torch", Version: t.Version, RequiresPython: ">=3.8",
		Files: map[string]string{
			"torch/__init__.py": "from . import version, cuda, backends, _C\n" +
				"__version__ = version.__version__\n\n" + // and values that go to NumPy and back
				"class Tensor(list):\n    def numpy(self):\n        return self\n\n    def sum(self):\n        return Tensor([sum(list(self))])\n\n" +
				"    def item(self):\n        return self[0]\n\n" +
				"def ones(n):\n    return Tensor([1.0] * n)\n\ndef from_numpy(values):\n    return Tensor(values)\n",
			"torch/version.py": fmt.Sprintf("__version__ = %q\ncuda = %s\nhip = None\n", t.Says, cu),
			"torch/cuda/__init__.py": "def is_available():\n    return False\n\n" +
				"def device_count():\n    return 0\n\n" +
				"def get_arch_list():\n    return []\n",
			"torch/backends/__init__.py": "from . import cudnn\n",
			"torch/backends/cudnn/__init__.py": fmt.Sprintf("def version():\n    return %d\n\ndef is_available():\n    return False\n",
				t.CuDNN),
			"torch/_C.py": fmt.Sprintf("def _cuda_getArchFlags():\n    return %q\n", strings.Join(t.Arches, " ")),
		},
	}
}
