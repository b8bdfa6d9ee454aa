package machine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A RecordFile is one line of a distribution's RECORD (PEP 376).
type RecordFile struct {
	Path string // relative to the directory of packages
	Hash string // sha256=…, "" none
	Size int64  // 0: not said
}

// ReadRecord reads a RECORD. Lines that are cut off are left out.
func ReadRecord(text []byte) (out []RecordFile) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		i := strings.LastIndexByte(line, ',')
		if i < 0 {
			continue
		}
		rest, size := line[:i], line[i+1:]
		if i = strings.LastIndexByte(rest, ','); i < 0 {
			continue
		}
		f := RecordFile{Path: rest[:i], Hash: rest[i+1:]}
		if len(f.Path) > 1 && f.Path[0] == '"' { // a name with a comma
			f.Path = strings.ReplaceAll(strings.Trim(f.Path, `"`), `""`, `"`)
		}
		if n, err := strconv.ParseInt(size, 10, 64); err == nil && n > 0 && n < 1<<40 {
			f.Size = n
		}
		out = append(out, f)
	}
	return out
}

// Lists reports whether a RECORD names a file.
func Lists(record []byte, file string) bool {
	return bytes.HasPrefix(record, []byte(file+",")) || bytes.Contains(record, []byte("\n"+file+","))
}

// Code reports whether a file is a distribution's own: programs are rewritten by
// installers, byte code comes and goes, and what is in the dist-info is the
// installer's.
func (f RecordFile) Code() bool {
	return f.Path != "" && !strings.HasPrefix(f.Path, "../") && !path.IsAbs(f.Path) && !strings.HasSuffix(f.Path, ".pyc") &&
		!strings.Contains(f.Path, ".dist-info/")
}

// CodeDigest is a hash over the names and hashes of the files of code, whatever
// their order, which each installer has its own; "" where none has a hash.
func CodeDigest(files []RecordFile) string {
	var code []string
	for _, f := range files {
		if f.Code() && f.Hash != "" {
			code = append(code, f.Path+","+f.Hash+"\n")
		}
	}
	if len(code) == 0 {
		return ""
	}
	slices.Sort(code)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(code, ""))))
}
