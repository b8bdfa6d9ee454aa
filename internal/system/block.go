package system

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"envfix/internal/say"
)

// maxProfile is the largest file in which a block is edited; shell profiles are
// a few kilobytes.
const maxProfile = 1 << 20

// A Keep guards a file of the user's own that is edited.
type Keep struct {
	Backup string // a copy of the file as it was, of the same mode; "" none
	Before string // sha256, in hex, of the file that the edit was meant for; "" any
}

// ErrChanged reports a file that is not the one that an edit was meant for.
var ErrChanged = errors.New("it was changed since the plan was made")

// EditBlock makes the lines between envfix's markers in a text file equal to
// lines; without lines it removes them with their markers. Editing twice is
// editing once, and adding and then removing gives the same bytes as before. The
// file keeps its mode and its line ends. A symbolic link of the user's own (a
// dotfile manager's) is followed. It reports whether the file changed.
//
// A file that holds the block already is left alone, whatever k says of it. A copy
// that is there already must be of the same bytes: none is ever replaced.
func EditBlock(path, name string, lines []string, k Keep) (bool, error) {
	path, err := target(path)
	if err != nil {
		return false, err
	}
	if err := Trusted(filepath.Dir(path)); err != nil {
		return false, err
	}
	mode, before := fs.FileMode(0o644), []byte(nil)
	switch info, err := os.Lstat(path); {
	case err == nil:
		if err := ours(path, info); err != nil {
			return false, err
		}
		mode = info.Mode().Perm()
		if before, err = ReadFile(path, maxProfile); err != nil {
			return false, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	after, err := editBlock(string(before), name, lines)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if after == string(before) {
		return false, nil
	}
	if err := k.keep(before, mode); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if now, err := ReadFile(path, maxProfile); err == nil && !bytes.Equal(now, before) {
		return false, fmt.Errorf("%s was changed by somebody else at the same time", path)
	}
	return true, WriteFile(path, []byte(after), mode)
}

// keep writes the copy, and refuses a file that is not the one that was meant.
func (k Keep) keep(before []byte, mode fs.FileMode) error {
	if sum := sha256.Sum256(before); k.Before != "" && hex.EncodeToString(sum[:]) != k.Before {
		return ErrChanged
	}
	if k.Backup == "" {
		return nil
	}
	sweepOld(filepath.Dir(k.Backup))
	have, err := ReadFile(k.Backup, maxProfile)
	switch {
	case err == nil && bytes.Equal(have, before):
		return nil
	case err == nil:
		return fmt.Errorf("%s is there and of other content; rename it", k.Backup)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return WriteFile(k.Backup, before, mode)
}

// sweepOld removes temporary files of ours that a process left that was killed: in
// a home directory nothing else ever would. What is a minute old is nobody's.
func sweepOld(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, ".envfix-tmp-*"))
	if err != nil {
		return
	}
	for _, f := range files {
		if info, err := os.Lstat(f); err == nil && ours(f, info) == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(f) // no harm where it stays
		}
	}
}

// BlockLines returns the lines of envfix's block in a text; nil where there is none,
// or where its markers are damaged.
func BlockLines(text, name string) []string {
	begin, end := markers(name)
	from, to, err := findBlock(text, begin, end)
	if err != nil || from < 0 {
		return nil
	}
	lines := strings.Split(strings.ReplaceAll(text[from:to], "\r\n", "\n"), "\n")
	return lines[1 : len(lines)-1]
}

// target follows symbolic links that belong to the user or to root.
func target(path string) (string, error) {
	for range 20 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // a missing file is created there
		}
		if err := trustedLink(path, info); err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

func markers(name string) (begin, end string) {
	return "# >>> envfix " + name + " >>>", "# <<< envfix " + name + " <<<"
}

// editBlock is the text half of EditBlock. Where a text does not end in a line
// end, neither does the block after it: so removing knows what to give back.
func editBlock(text, name string, lines []string) (string, error) {
	begin, end := markers(name)
	for _, l := range append([]string{name}, lines...) {
		if strings.ContainsAny(l, "\n\r\x00") || l == begin || l == end {
			return "", fmt.Errorf("a line of block %q holds a line end or a marker", name)
		}
	}
	from, to, err := findBlock(text, begin, end)
	if err != nil {
		return "", err
	}
	eol := say.Either(strings.Contains(text, "\r\n"), "\r\n", "\n")
	if from < 0 {
		return addBlock(text, begin+eol+joined(lines, eol)+end, eol, len(lines) == 0), nil
	}
	if len(lines) > 0 {
		return text[:from] + begin + eol + joined(lines, eol) + end + text[to:], nil
	}
	before, after := text[:from], text[to:]
	if after == "" { // it ended the text without a line end: as the text did before
		return strings.TrimSuffix(before, eol), nil
	}
	return before + strings.TrimPrefix(after, eol), nil
}

func addBlock(text, block, eol string, nothing bool) string {
	switch {
	case nothing:
		return text
	case text == "" || strings.HasSuffix(text, "\n"):
		return text + block + eol
	default:
		return text + eol + block
	}
}

func joined(lines []string, eol string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + eol)
	}
	return b.String()
}

// findBlock returns where the block begins and ends, without the line end after
// it; -1 where there is none.
func findBlock(text, begin, end string) (from, to int, err error) {
	from, to = -1, -1
	offset := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		switch strings.TrimRight(line, "\r\n") {
		case begin:
			if from >= 0 {
				return 0, 0, fmt.Errorf("marker %q is there twice: remove one block by hand", begin)
			}
			from = offset
		case end:
			if from < 0 || to >= 0 {
				return 0, 0, fmt.Errorf("marker %q has no beginning: remove it by hand", end)
			}
			to = offset + len(end)
		}
		offset += len(line)
	}
	if from >= 0 && to < 0 {
		return 0, 0, fmt.Errorf("marker %q has no end: remove it by hand", begin)
	}
	return from, to, nil
}
