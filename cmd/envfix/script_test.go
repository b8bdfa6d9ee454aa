package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/probe/gpu"
	"envfix/internal/system"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs of scripts and golden files")

// TestMain makes this test binary the program itself when a script starts
// envfix, and envfix's own child when that starts one.
func TestMain(m *testing.M) {
	if os.Getenv("ENVFIX_TODAY") == "" { // the day of the answers that the tests expect
		os.Setenv("ENVFIX_TODAY", "2026-11-21")
	}
	testscript.Main(tests{m}, map[string]func(){"envfix": validated})
}

// TestScript runs the stories of testdata/script on the real main. A script
// finds, beside testscript's own variables:
//
//	$NVML      libnvidia-ml.so.1, a stand-in that testdata/nvml.c explains;
//	           `env ENVFIX_NVML=$NVML` puts it in the machine
//	$NVML_OLD  the same, without what libraries of old drivers lack
//	$MACHINES  facts of machines, for --facts
//
// Files below a directory of the script can stand for a machine: ENVFIX_ROOT.
// ENVFIX_NVML is off and the date fixed, so that no answer depends on the GPU or
// the day of the machine that runs the tests.
func TestScript(t *testing.T) {
	machines, err := filepath.Abs("testdata/machines")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := standIns(); err != nil {
		t.Logf("scripts that need the stand-in library are skipped: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scriptCommands(), RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Condition: func(c string) (bool, error) {
			if c == "nvml" { // this build can load the stand-in, and it could be built
				_, err := standIns()
				return err == nil && gpu.HasNVML(), nil
			}
			if c == "failpoints" { // `make faults` builds it so
				return system.HasPoints, nil
			}
			return false, fmt.Errorf("unknown condition %q", c)
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("ENVFIX_QUICK", "1") // no index but those that a script serves
			e.Setenv("ENVFIX_TODAY", "2026-11-21")
			e.Setenv("ENVFIX_NVML", "off")
			e.Setenv("ENVFIX_PROBE_LIMIT", "60s") // a busy machine is no driver that hangs
			e.Setenv("MACHINES", machines)
			if dir, err := standIns(); err == nil {
				e.Setenv("NVML", filepath.Join(dir, "libnvidia-ml.so.1"))
				e.Setenv("NVML_OLD", filepath.Join(dir, "old", "libnvidia-ml.so.1"))
			}
			return os.MkdirAll(home, 0o755)
		},
	})
}

// standIns compiles testdata/nvml.c, once, and returns the directory of the
// libraries.
var standIns = made("nvml", func(dir string) error {
	return errors.Join(os.Mkdir(dir+"/old", 0o755),
		execute(nil, "cc", "-DNEW", "-shared", "-fPIC", "-o", dir+"/libnvidia-ml.so.1", "testdata/nvml.c"),
		execute(nil, "cc", "-DOLD", "-shared", "-fPIC", "-o", dir+"/old/libnvidia-ml.so.1", "testdata/nvml.c"))
})
