package maintain

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/planning"
	"envfix/internal/text"
	"envfix/matrix"
	"envfix/resolver"
)

// A Comparison is what a change of the data changes.
type Comparison struct {
	Changes  []matrix.Change
	Files    []string // data files that are no part of a matrix and differ
	Answers  []Answer // recorded machines that get another answer
	Machines int      // that were asked
}

// An Answer is a recorded machine that gets another answer.
type Answer struct {
	Machine string `json:"machine"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

// Recorded says where recorded machines are: files of `envfix facts --json`.
type Recorded struct {
	Dir   string
	Asked bool   // a missing directory is an error
	Today string // that the plans reason with
}

// Compare compares two versions of the data, each a directory or a revision of git,
// and plans for every recorded machine with both.
func Compare(ctx context.Context, before, after string, r Recorded) (*Comparison, error) {
	oldFS, old, err := load(ctx, before)
	if err != nil {
		return nil, err
	}
	newFS, now, err := load(ctx, after)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Changes: matrix.Diff(old, now), Files: otherFiles(oldFS, newFS)}
	c.Answers, c.Machines, err = otherAnswers(r.Dir, r.Asked, r.Today, old, now)
	return c, err
}

// otherFiles lists data files that are no part of a matrix (messages, checks, the
// device table) and differ.
func otherFiles(before, after fs.FS) []string {
	var names []string
	for _, fsys := range []fs.FS{before, after} {
		list, _ := fs.Glob(fsys, "*.*")
		names = append(names, list...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool {
		a, errA := fs.ReadFile(before, n)
		b, errB := fs.ReadFile(after, n)
		return matrix.Reads(n) || slices.Contains([]string{".go", ".bin"}, filepath.Ext(n)) || (errA == nil) == (errB == nil) && bytes.Equal(a, b)
	})
}

// otherAnswers plans for every recorded machine with both matrices.
func otherAnswers(dir string, asked bool, today string, before, after *matrix.Matrix) (list []Answer, total int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !asked {
		return nil, 0, nil // not in a checkout of envfix
	}
	if err != nil {
		return nil, 0, fail.Wrong(text.Printable(err.Error()))
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		facts, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, 0, fail.Wrong(text.Printable(err.Error()))
		}
		h, err := machine.Decode(facts)
		if err != nil {
			return nil, 0, &fail.Error{Code: fail.Usage, Text: "facts of " + text.Printable(filepath.Join(dir, e.Name())) + ": " + text.Printable(err.Error()), Err: err}
		}
		a, err := answer(before, h, today)
		if err != nil {
			return nil, 0, err
		}
		b, err := answer(after, h, today)
		if err != nil {
			return nil, 0, err
		}
		total++
		if a != b {
			list = append(list, Answer{text.Printable(name), a, b})
		}
	}
	return list, total, nil
}

// answer is what a machine would be told, in one line.
func answer(m *matrix.Matrix, h machine.Machine, today string) (string, error) {
	res, err := planning.Question{Matrix: m, Machine: h, Request: resolver.Request{Today: today, Described: true}}.Choose()
	if err != nil {
		return "", err
	}
	words := []string{string(res.Decision)}
	add := func(name string, c *resolver.Choice) {
		if c == nil {
			return
		}
		words = append(words, name+c.Torch+"+"+c.Build, "python "+c.Python)
		for _, p := range []string{"torchvision", "torchaudio"} {
			if v, ok := c.Packages[p]; ok {
				words = append(words, p+" "+v)
			}
		}
	}
	add("torch ", res.Choice)
	add("then ", res.Then)
	add("fallback ", res.Fallback)
	for _, e := range res.Environments {
		add("also ", e.Choice)
	}
	if d := res.Driver; d.Action != "" && d.Action != "keep" && d.Action != "none" {
		words = append(words, strings.TrimSpace("driver "+d.Action+" "+d.Branch))
	}
	return strings.Join(words, ", "), nil
}
