package apply

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// Where nothing can be written the directory is named, and another place; what is no
// matter of the disk stays as it is.
func TestUnwritable(t *testing.T) {
	e := &Env{Dir: filepath.Join(t.TempDir(), ".venv")}
	var known *fail.Error
	for _, cause := range []error{fs.ErrPermission, syscall.EROFS} {
		err := e.unwritable(&fs.PathError{Op: "mkdirat", Path: ".envfix", Err: cause})
		if known, _ = err.(*fail.Error); known == nil || known.Code != fail.Preflight || !strings.Contains(known.Text, filepath.Dir(e.Dir)) || !strings.Contains(known.Hints[0], "--env") {
			t.Errorf("%v: %+v", cause, err)
		}
	}
	if err := e.unwritable(syscall.ENOENT); err != syscall.ENOENT {
		t.Errorf("got %v", err)
	}
}

// Where uv cannot be brought, pip can install without it.
func TestWithoutUV(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: plan.BringsUV, Title: "install uv there", Run: &plan.Run{Argv: []string{"python"}}}}}
	r := &run{plan: p}
	failed := &system.ExitError{Argv: []string{"python"}, Code: 1, Tail: []string{"ERROR: No matching distribution found for uv"}}
	e, _ := r.explain(0, failed, "", 1).(*fail.Error)
	if e == nil || !strings.Contains(e.Hints[0], "`--manager pip`") {
		t.Errorf("%+v", e)
	}
}
