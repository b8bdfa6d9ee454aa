package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/gpu"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected facts")

// TestRootsGolden reads every machine of testdata/roots, a tree of files in one
// archive, and compares all facts with the .json beside it. The archive's
// comment says in its first line which machine it is; further lines make what an
// archive cannot hold:
//
//	link PATH TARGET        a symbolic link
//	program PATH            an empty file that may be executed
//	elf PATH ARCH INTERP    an executable that names its interpreter
//	hex PATH BYTES          a binary file
//	env NAME=VALUE          an environment variable
//	venv DIR                the project's environment
func TestRootsGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/roots/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no machines in testdata/roots: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := buildRoot(t, file)
			m := Gather(context.Background(), o)
			checkGolden(t, strings.TrimSuffix(file, ".txtar")+".json", m.Encode())
			// What a probe found is always something that facts may say.
			again, err := machine.Decode(m.Encode())
			if err != nil {
				t.Fatalf("the facts are refused: %v", err)
			}
			if diff := cmp.Diff(string(m.Encode()), string(again.Encode())); diff != "" {
				t.Errorf("decoding changes the facts (-gathered +decoded):\n%s", diff)
			}
		})
	}
}

func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", file, diff)
	}
}

// buildRoot unpacks an archive and returns the options to read it.
func buildRoot(t *testing.T, file string) Options {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	o := Options{Root: root, OS: "linux", Options: gpu.Options{Device: testDevice, ByName: testName}}
	for _, f := range a.Files {
		write(t, filepath.Join(root, f.Name), f.Data, 0o644)
	}
	lines := strings.Split(strings.TrimSpace(string(a.Comment)), "\n")
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(line, " ")
		f := strings.Fields(rest)
		switch word {
		case "link":
			mkdir(t, filepath.Dir(filepath.Join(root, f[0])))
			if err := os.Symlink(f[1], filepath.Join(root, f[0])); err != nil {
				t.Fatal(err)
			}
		case "program":
			write(t, filepath.Join(root, f[0]), nil, 0o755)
		case "elf":
			write(t, filepath.Join(root, f[0]), elfProgram(f[1], f[2]), 0o755)
		case "hex":
			var b []byte
			if _, err := fmt.Sscanf(f[1], "%x", &b); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, f[0]), b, 0o644)
		case "env":
			o.Env = append(o.Env, rest)
		case "venv":
			o.Venv = rest
		case "":
		default:
			t.Fatalf("%s: %q is none of the lines that make files", file, line)
		}
	}
	return o
}

func write(t *testing.T, path string, data []byte, mode os.FileMode) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// elfProgram returns the headers of a 64-bit ELF executable that names its
// interpreter, and nothing else.
func elfProgram(arch, interp string) []byte {
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	em := map[string]uint16{"x86_64": 62, "aarch64": 183}[arch]
	put([]uint16{2, em})                                               // type, machine
	put(uint32(1))                                                     // version
	put([]uint64{0, 64, 0})                                            // entry, program headers, section headers
	put(uint32(0))                                                     // flags
	put([]uint16{64, 56, 1, 64, 0, 0})                                 // sizes and counts
	put([]uint32{3, 4})                                                // PT_INTERP, readable
	put([]uint64{120, 0, 0})                                           // offset, addresses
	put([]uint64{uint64(len(interp) + 1), uint64(len(interp) + 1), 1}) // sizes, alignment
	b.WriteString(interp + "\x00")
	return b.Bytes()
}

// testDevice is a device table of the machines in testdata.
func testDevice(p gpu.PCI) (gpu.Device, bool) {
	table := map[string]gpu.Device{
		"10de:2882": {Name: "NVIDIA GeForce RTX 4060", SM: machine.MustSM("8.9")},
		"10de:2204": {Name: "NVIDIA GeForce RTX 3090", SM: machine.MustSM("8.6")},
		"10de:1db5": {Name: "Tesla V100-SXM2-32GB", SM: machine.MustSM("7.0")},
		"10de:2342": {Name: "NVIDIA GH200 480GB", SM: machine.MustSM("9.0")},
		"10de:1c81": {Name: "NVIDIA GeForce GTX 1050", SM: machine.MustSM("6.1")},
		"8086:56a0": {Name: "DG2 [Arc A770]"},
		"8086:9b41": {Name: "CometLake-U GT2 [UHD Graphics]", Integrated: true},
	}
	d, ok := table[p.Vendor+":"+p.Device]
	return d, ok
}

func testName(name string) (gpu.Device, bool) {
	table := map[string]gpu.Device{"Radeon RX 7900 XT": {Name: "Radeon RX 7900 XT", GFX: "gfx1100"}}
	d, ok := table[name]
	return d, ok
}
