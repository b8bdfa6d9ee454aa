package matrix

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"envfix/data"
	"envfix/internal/compiled"
	"envfix/internal/say"
	"envfix/internal/text"
)

// The caps on what is read: ours are a tenth of them.
const (
	maxFile  = 2 << 20
	maxFiles = 200
)

var errTooLarge = fmt.Errorf("larger than %d MiB: this is not a file of the matrix", maxFile>>20)

// Embedded returns the matrix that the program was built with. A test holds its
// compiled form against the YAML, so that reading it cannot fail.
func Embedded() *Matrix {
	m, err := decompile(data.Matrix)
	mustRead(err)
	return m
}

// EmbeddedHead returns that matrix with its version and its date alone, without
// decoding the rest.
func EmbeddedHead() *Matrix {
	var head struct{ Version, Date string } // as Matrix begins
	mustRead(compiled.DecodeHead(data.Matrix, &head))
	return &Matrix{Version: head.Version, Date: head.Date}
}

// mustRead ends a program whose own data is damaged.
func mustRead(err error) {
	if err != nil {
		panic(fmt.Errorf("the data that the program was built with: %w", err))
	}
}

// Sum returns the SHA256 of a matrix's files, as Matrix.SHA256 has it: of the
// lines that sha256sum would print for them.
func Sum(fsys fs.FS) (string, error) {
	names, faults := files(fsys)
	if len(faults) > 0 {
		return "", errors.New(faults[0].String())
	}
	sum := sha256.New()
	for _, name := range names {
		text, err := readFile(fsys, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%x  %s\n", sha256.Sum256(text), name)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Load reads and validates a matrix. Its error names the first faults; use
// [Check] for all of them.
func Load(fsys fs.FS) (*Matrix, error) { return load(fsys, false) }

// LoadLax is Load for data that may be newer than the program but of the same
// format: unknown keys are ignored.
func LoadLax(fsys fs.FS) (*Matrix, error) { return load(fsys, true) }

func load(fsys fs.FS, lax bool) (*Matrix, error) {
	m, faults := read(fsys, lax)
	if len(faults) == 0 {
		return m, nil
	}
	return nil, errors.New(strings.Join(say.Few(text.Each(faults, Fault.String), 5, "and %d more"), "\n"))
}

// read returns the matrix with every fault found, of form and of meaning.
func read(fsys fs.FS, lax bool) (*Matrix, []Fault) {
	names, faults := files(fsys)
	m := &Matrix{}
	sum := sha256.New()
	for _, name := range names {
		text, err := readFile(fsys, name)
		if err != nil {
			faults = append(faults, Fault{File: "data/" + name, Text: err.Error()})
			continue
		}
		fmt.Fprintf(sum, "%x  %s\n", sha256.Sum256(text), name)
		s := &source{file: "data/" + name, lax: lax}
		m.readFile(s, name, text)
		faults = append(faults, s.faults...)
	}
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	m.sort()
	m.pinComponents()
	m.index = newIndex(m)
	return m, unique(append(faults, m.validate()...))
}

func (m *Matrix) readFile(s *source, name string, text []byte) {
	switch {
	case name == "matrix.yaml":
		readHead(s, text, m)
	case name == "sources.yaml":
		readSources(s, text, m)
	case strings.HasPrefix(name, "torch/"):
		m.Releases = append(m.Releases, readTorch(s, text, m.shared)...)
	default:
		readTables(s, text, m)
	}
}

func readHead(s *source, text []byte, m *Matrix) {
	o, _, ok := s.open(text)
	if !ok {
		return
	}
	var line int
	if m.Version, line = o.scalar("version", true); m.Version == "" {
		s.fault(line, "no version")
	}
	m.Date, _ = o.scalar("date", true)
	o.done()
}

// readSources reads the sources that several files name.
func readSources(s *source, text []byte, m *Matrix) {
	o, names, _ := s.open(text)
	m.shared = names
	o.done()
}

// Reads reports whether a file of data/ is part of a matrix: others are read by other packages.
func Reads(name string) bool {
	return strings.HasSuffix(name, ".yaml") && name != WheelsFile && !slices.Contains(data.Knowledge, name)
}

// files lists the YAML files of a matrix in order.
func files(fsys fs.FS) ([]string, []Fault) {
	var names []string
	var faults []Fault
	for _, dir := range []string{".", "torch"} {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			faults = append(faults, Fault{File: path.Join("data", dir), Text: err.Error()})
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.Type().IsRegular() && Reads(name) {
				names = append(names, name)
			}
		}
	}
	// sources.yaml first: the others name its sources.
	sort.Slice(names, func(i, j int) bool {
		a, b := names[i] == "sources.yaml", names[j] == "sources.yaml"
		return a && !b || a == b && names[i] < names[j]
	})
	if len(names) > maxFiles {
		faults = append(faults, Fault{File: "data", Text: fmt.Sprintf("%d files; at most %d are read", len(names), maxFiles)})
		names = nil
	}
	return names, faults
}

// readFile reads a file of bounded size; what it claims to be is not believed.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, errTooLarge
	}
	return text, nil
}

func unique(faults []Fault) []Fault {
	seen := map[Fault]bool{}
	faults = slices.DeleteFunc(faults, func(f Fault) bool { twice := seen[f]; seen[f] = true; return twice })
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return faults
}

// sort puts every list into the order that Matrix promises.
func (m *Matrix) sort() {
	sort.SliceStable(m.Releases, func(i, j int) bool { return m.Releases[j].Torch.Compare(m.Releases[i].Torch) < 0 })
	sort.SliceStable(m.Branches, func(i, j int) bool { return m.Branches[i].Number > m.Branches[j].Number })
	sort.SliceStable(m.Toolkits, func(i, j int) bool { return m.Toolkits[j].Version.Less(m.Toolkits[i].Version) })
	sort.SliceStable(m.Arches, func(i, j int) bool { return m.Arches[i].SM.Less(m.Arches[j].SM) })
}

// pinComponents gives each CUDA build the libraries of its toolkit that it does
// not pin itself; a pin of "" says that it brings none.
func (m *Matrix) pinComponents() {
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			for _, c := range m.Components {
				if !b.CUDA.IsZero() && c.CUDA.Compare(b.CUDA) == 0 {
					own := b.Pins
					b.Pins = maps.Clone(c.Pins)
					maps.Copy(b.Pins, own)
				}
			}
			maps.DeleteFunc(b.Pins, func(_, version string) bool { return version == "" })
		}
	}
}
