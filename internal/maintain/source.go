package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/matrix"
)

// Dir is a matrix's directory as a file system; without a name, what the
// program was built with. A directory that holds the data in its folder data is
// taken for that folder.
func Dir(name string) (fsys fs.FS, dir string, err error) {
	if name == "" {
		if _, err := fs.Stat(data.FS, "matrix.yaml"); err != nil {
			return nil, "", fail.Wrong("this program carries its data compiled, without the files that people write",
				"name a folder that holds them: `envfix matrix check DIR`, such as data in a clone")
		}
		return data.FS, "", nil
	}
	for _, dir := range []string{name, filepath.Join(name, "data")} {
		if _, err := os.Stat(filepath.Join(dir, "matrix.yaml")); err == nil {
			return os.DirFS(dir), dir, nil
		}
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, "", fail.Wrong(text.Printable(name) + " is not there")
	}
	return nil, "", fail.Wrong(text.Printable(name) + " holds no matrix: it has no matrix.yaml")
}

// revision is the data of a directory, or of a revision of the git repository
// here.
func revision(ctx context.Context, name string) (fs.FS, error) {
	fsys, _, err := Dir(name)
	if err == nil {
		return fsys, nil
	}
	if _, statErr := os.Stat(name); statErr == nil || strings.HasPrefix(name, "-") {
		return nil, err
	}
	tree, err := gitOutput(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+":data")
	if err != nil || len(tree) == 0 {
		return nil, fail.Wrong(fmt.Sprintf("%q is neither a directory of data nor a revision of git that has one", text.Clip(name, 60)))
	}
	list, err := gitOutput(ctx, "ls-tree", "-r", "-z", "--name-only", strings.TrimSpace(string(tree)))
	if err != nil {
		return nil, fail.New(fail.Failed, "git ls-tree: "+text.Printable(err.Error()))
	}
	files := fstest.MapFS{}
	for file := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		content, err := gitOutput(ctx, "cat-file", "blob", strings.TrimSpace(string(tree))+":"+file) // as it is: git archive runs filters
		if err != nil {
			return nil, fail.New(fail.Failed, "git cat-file: "+text.Printable(err.Error()))
		}
		files[file] = &fstest.MapFile{Data: content}
	}
	return files, nil
}

func gitOutput(ctx context.Context, args ...string) ([]byte, error) {
	cmd, err := system.Git(ctx, ".", args...)
	if err != nil {
		return nil, err
	}
	return cmd.Output()
}

// load reads the data of a directory or a revision, of any version, with what it does not know
// left out.
func load(ctx context.Context, name string) (fs.FS, *matrix.Matrix, error) {
	fsys, err := revision(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	m, err := matrix.LoadLax(fsys)
	if err != nil {
		return nil, nil, &fail.Error{
			Code:    fail.Usage,
			Text:    "the data of " + text.Printable(name) + " is not in order",
			Details: strings.Split(text.EscapeLines(err.Error()), "\n"),
			Hints:   []string{"`envfix matrix check DIR` lists every fault"},
		}
	}
	return fsys, m, nil
}
