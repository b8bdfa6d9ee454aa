//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stubs writes programs that stand in for Slurm's and envfix's.
func stubs(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, script := range all {
		writeText(t, filepath.Join(dir, name), "#!/bin/bash\n"+script)
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// The health check drains with the reason, lets back only what it drained itself, and
// leaves nodes alone that no environment was made for.
func TestSlurmHealth(t *testing.T) {
	shared := t.TempDir()
	must(t, "install", "-D", "../../deploy/slurm/envfix-health", shared+"/bin/envfix-health")
	writeText(t, shared+"/nodes", "n1 2 /envs/a\nn10 4 /envs/b\n")
	stubs(t, shared+"/bin", map[string]string{"envfix": `echo "envfix: $4: with $6 GPUs \"quoted\""; exit $WRONG` + "\n"})
	stubs(t, shared+"/slurm", map[string]string{"scontrol": `if [ "$1" = update ]; then printf '%s;' "$@" >> "$LOG"; exit; fi
echo "NodeName=$4 State=$STATE Reason=$REASON"` + "\n"})
	for _, tt := range []struct{ node, wrong, state, reason, does string }{
		{"n1", "0", "IDLE", "", ""},
		{"n1", "11", "IDLE", "", "update;NodeName=n1;State=DRAIN;Reason=envfix: /envs/a: with 2 GPUs  quoted ;"},
		{"n10", "11", "MIXED", "", "update;NodeName=n10;State=DRAIN;Reason=envfix: /envs/b: with 4 GPUs  quoted ;"},
		{"n1", "11", "IDLE+DRAIN", "envfix: before", ""},
		{"n1", "0", "IDLE+DRAIN", "envfix: before", "update;NodeName=n1;State=RESUME;"},
		{"n1", "0", "IDLE+DRAIN", "the fan", ""},
		{"n1", "11", "IDLE+DRAIN", "the fan", ""},
		{"n2", "11", "IDLE", "", ""},
	} {
		log := shared + "/log"
		if err := os.RemoveAll(log); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(shared + "/bin/envfix-health")
		cmd.Env = append(os.Environ(), "PATH="+shared+"/slurm:"+os.Getenv("PATH"), "SLURMD_NODENAME="+tt.node,
			"WRONG="+tt.wrong, "STATE="+tt.state, "REASON="+tt.reason, "LOG="+log)
		out, err := cmd.CombinedOutput()
		did, _ := os.ReadFile(log) // nothing was done where there is none
		if got := strings.TrimSpace(string(did)); got != tt.does {
			t.Errorf("%+v: %q\n%s", tt, got, out)
		}
		if good := err == nil; good != (tt.wrong == "0" || tt.node == "n2") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// The probe asks one node of each type, the next one where the first does not answer,
// and lists the type that nobody answers for.
func TestSlurmProbe(t *testing.T) {
	dir := t.TempDir()
	stubs(t, dir+"/bin", map[string]string{
		"sinfo": "printf '%s\\n' 'n1|gpu:v100:2(S:0)|cc70|idle' 'n2|gpu:v100:2(S:0)|cc70|idle' 'n3|gpu:b200:8|(null)|down*' 'n4|(null)|cpu|mixed' 'n4|(null)|cpu|mixed'\n",
		"srun": `echo "$*" >> "$LOG"
[[ "$*" == *"-w n1 "* ]] && { echo 'srun: error: no answer' >&2; exit 1; }; echo "{\"host\":\"${@: -1}\"}"` + "\n",
	})
	cmd := exec.Command("python3", "../../deploy/slurm/envfix-slurm", "probe", dir+"/facts.jsonl", "--wait", "5")
	cmd.Env = append(os.Environ(), "PATH="+dir+"/bin:"+os.Getenv("PATH"), "ENVFIX=envfix", "LOG="+dir+"/log")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "3 node types, 1 not asked") {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `{"host":"n4"}` + "\n" + `{"host": "n3", "error": "no node of its type is up: down"}` + "\n" + `{"host":"n2"}` + "\n"
	if got := fileText(t, dir+"/facts.jsonl"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if log := fileText(t, dir+"/log"); !strings.Contains(log, "-w n2 --immediate=5 --gres=gpu:v100:2 envfix facts --class --at --host n2") {
		t.Error(log)
	}
}
