package know

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"sync"

	"envfix/data"
	"envfix/internal/compiled"
)

// Compile returns the compiled form of the knowledge in these files, with an index
// for a scan that asks for the expressions of readers of facts as well.
func Compile(fsys fs.FS) ([]byte, error) {
	k, err := Load(fsys)
	if err != nil {
		return nil, err
	}
	k.Index = newIndex(newScanner(k).expressions())
	sum := sha256.New()
	for _, file := range data.Knowledge {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		sum.Write(text)
	}
	return compiled.Encode(k, [32]byte(sum.Sum(nil))), nil
}

// CompileCatalogue returns the compiled form of data/catalogue.txt.
func CompileCatalogue(fsys fs.FS) ([]byte, error) {
	text, err := fs.ReadFile(fsys, "catalogue.txt")
	if err != nil {
		return nil, err
	}
	c, err := newCatalogue(string(text))
	if err != nil {
		return nil, fmt.Errorf("catalogue.txt: %w", err)
	}
	return compiled.Encode(c, sha256.Sum256(text)), nil
}

// embedded is what Embedded made. It is no sync.OnceValue: that would be made at
// each start, and link the data into programs that are given it (the web page).
var embedded struct {
	once sync.Once
	k    *Knowledge
}

// Embedded returns the knowledge that the program was built with. A test holds its
// compiled form against the files, so that reading it cannot fail.
func Embedded() *Knowledge {
	embedded.once.Do(func() {
		k, err := Decode(data.Doctor)
		if err != nil {
			panic(fmt.Errorf("data/doctor.bin: %w", err))
		}
		if err := compiled.Decode(data.Catalogue, &k.Printed); err != nil {
			panic(fmt.Errorf("data/catalogue.bin: %w", err))
		}
		embedded.k = k
	})
	return embedded.k
}

// Decode reads a compiled form, which this program's [Compile] made. Its error says
// that it is damaged or another program's.
func Decode(blob string) (*Knowledge, error) {
	var k *Knowledge
	err := compiled.Decode(blob, &k)
	return k, err
}
