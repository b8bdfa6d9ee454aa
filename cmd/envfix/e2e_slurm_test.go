//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// slurmConf is a controller on node1 and a slurmd on each node. %[1]s is the Prolog and
// the HealthCheckProgram, where there are some.
const slurmConf = `ClusterName=lab
SlurmctldHost=node1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/lab-ctld
SlurmdSpoolDir=/var/spool/lab-d
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
GresTypes=gpu
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
%[1]s
NodeName=node1 CPUs=4 RealMemory=500 Gres=gpu:v100:2 Feature=cc70,old
NodeName=node2 CPUs=4 RealMemory=500 Gres=gpu:b200:2 Feature=cc100
NodeName=node3 CPUs=4 RealMemory=500 Feature=cpu
PartitionName=all Nodes=node[1-3] Default=YES State=UP
`

// TestE2ESlurm is a cluster of a controller and three nodes (V100, B200, none): probe
// jobs, one lock, an environment and a module file for each group; each job gets the
// right one; a node whose driver changed, or whose GPU is gone, is drained with the
// reason and comes back. Its commands are those of docs/fleet.md.
func TestE2ESlurm(t *testing.T) {
	if os.Getenv("ENVFIX_E2E_SLURM") == "" {
		t.Skip("needs ENVFIX_E2E_SLURM=1 (make e2e-slurm)")
	}
	for _, p := range []string{"slurmctld", "slurmd", "munged"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p + " is not installed (slurm-wlm, munge)")
		}
	}
	kinds := []labKind{
		{gpu: "Tesla V100-SXM2-16GB", cc: "7,0", driver: "535.183.01"},
		{gpu: "NVIDIA B200", cc: "10,0", driver: "580.95.05"},
		{},
	}
	l := newLab(t, 3, func(i int) labKind { return kinds[i-1] })
	envfix := build(t)
	shared := l.dir + "/shared"
	// What Slurm starts has no environment of ours: envfix on a machine reads it itself.
	writeText(t, shared+"/lab/envfix", "#!/bin/bash\nset -a\nwhile read -r line; do export \"$line\"; done < /etc/lab/env\nexec /shared/lab/envfix.real \"$@\"\n")
	must(t, "chmod", "755", shared+"/lab/envfix")
	must(t, "cp", envfix, shared+"/lab/envfix.real")
	must(t, "cp", "../../deploy/slurm/envfix-slurm", "../../deploy/slurm/envfix-health", shared+"/lab/")
	slurmFiles(t, l, "")
	l.up(t)
	startSlurm(t, l)

	const where = "cd /shared/team && export ENVFIX=/shared/lab/envfix PATH=/shared/lab:$PATH && "
	if err := os.MkdirAll(shared+"/team", 0o755); err != nil {
		t.Fatal(err)
	}
	env := fmt.Sprintf("export MIRROR='%s' APPLY='--apply=%s'; ", strings.Join(l.mirrors(), " "), strings.Join(l.mirrors(), " --apply="))
	var lines, last string
	for line := range strings.Lines(docBlock(t, "Slurm", "sh")) {
		last = where + env + strings.TrimSpace(line)
		lines = l.must(t, 1, last)
		t.Log(lines)
		if strings.Contains(line, " probe ") {
			l.wheelsFor(t, envfix, shared+"/team/facts.jsonl")
		}
	}
	for _, want := range []string{`--constraint="cc100"`, `--constraint="cc70"`, `--constraint="cpu"`} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, lines)
		}
	}
	if again := l.must(t, 1, last); strings.Count(again, "is there") != 3 {
		t.Errorf("the second time something is made anew:\n%s", again)
	}
	if out := l.must(t, 2, "find -H /shared/envfix/envs/*-* -type f -perm /222 | head -3"); out != "" {
		t.Errorf("an environment can be written to: %s", out)
	}

	for _, command := range []string{"scontrol --json show nodes", "sinfo --json"} {
		t.Run(command, func(t *testing.T) {
			text, err := l.on(1, command+" 2>/dev/null")
			if err != nil {
				why, _ := l.on(1, command) // its words alone are wanted
				t.Skip("this build of Slurm prints none: " + why)
			}
			writeText(t, shared+"/nodes.json", text)
			out, err := exec.Command(envfix, "fleet", "plan", shared+"/nodes.json").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "3 machines of 1 class") || strings.Count(string(out), "Slurm does not know its driver") != 2 {
				t.Errorf("%v\n%s\n%.2000s", err, out, text)
			}
		})
	}
	t.Run("each job gets the right environment", func(t *testing.T) {
		for constraint, want := range map[string]string{"cc70": "2.14.1+cu126 12.6 2", "cc100": "2.15.0+cu132 13.2 2", "cpu": "2.14.1+cpu None 0"} {
			module := map[string]string{"cc70": "cu126", "cc100": "cu132", "cpu": "cpu"}[constraint]
			job := strings.NewReplacer("cc70", constraint, "cu126", module, "print(torch.__version__)",
				"print(torch.__version__, torch.version.cuda, torch.cuda.device_count())").Replace(docBlock(t, "Slurm", "job"))
			if out := strings.TrimSpace(l.must(t, 1, job)); !strings.HasSuffix(out, want) {
				t.Errorf("%s: %q, want %q", constraint, out, want)
			}
		}
	})
	t.Run("a login node and a CPU node", func(t *testing.T) {
		out, err := l.on(3, where+"$ENVFIX plan --no-lock")
		if err == nil || !strings.Contains(out, "login node") || !strings.Contains(out, "--gpu") {
			t.Errorf("a login node: %v\n%s", err, out)
		}
		if out := l.must(t, 1, "srun -Q -C cpu /shared/lab/envfix facts --class"); strings.Contains(out, "hpc-login") {
			t.Errorf("within a job a node without a GPU is no login node: %s", out)
		}
	})
	t.Run("health", func(t *testing.T) { l.slurmHealth(t) })
}

// slurmHealth changes a node below its environment, and back.
func (l *lab) slurmHealth(t *testing.T) {
	slurmFiles(t, l, strings.Replace(docBlock(t, "Slurm", "conf"), "=300", "=2", 1))
	conf := fileText(t, l.dir+"/files/etc/slurm/slurm.conf")
	writeText(t, l.dir+"/shared/lab/slurm.conf", conf)
	for i := 1; i <= l.n; i++ {
		l.must(t, i, "cp /shared/lab/slurm.conf /etc/slurm/slurm.conf")
	}
	l.must(t, 1, "scontrol reconfigure")
	state := func() string { return l.must(t, 1, "scontrol --oneliner show node node2") }
	await := func(what string, ok func(string) bool) {
		t.Helper()
		for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
			if ok(state()) {
				return
			}
		}
		t.Fatalf("%s: %s", what, state())
	}
	if out := l.must(t, 1, "srun -Q -w node2 hostname"); strings.TrimSpace(out) != "node2" { // the prolog lets it pass
		t.Fatal(out)
	}
	drained := func(reason string) func(string) bool {
		return func(s string) bool { return strings.Contains(s, "DRAIN") && strings.Contains(s, reason) }
	}
	healthy := func(s string) bool { return !strings.Contains(s, "DRAIN") && strings.Contains(s, "State=IDLE") }
	for _, change := range []struct{ what, edit, reason string }{
		{"another driver", "s/=580.95.05/=570.124.06/", "no longer runs here"},
		{"a GPU less", "s/;NVIDIA B200,10,0//", "1 of 2 GPUs can be used"},
		{"a module of another driver", "s/^SYSMODULE=.*/SYSMODULE=570.124.06/", "reboot"},
	} {
		l.must(t, 2, "cp /etc/lab/env /etc/lab/env.was; sed -i '"+change.edit+"' /etc/lab/env; sed -n s/^SYSMODULE=//p /etc/lab/env > /sys/module/nvidia/version")
		await(change.what, drained(change.reason))
		t.Logf("%s: %s", change.what, reasonOf(state()))
		l.must(t, 2, "mv /etc/lab/env.was /etc/lab/env; sed -n s/^SYSMODULE=//p /etc/lab/env > /sys/module/nvidia/version")
		await("back from "+change.what, healthy)
	}
	l.must(t, 1, "scontrol update nodename=node2 state=drain reason='the fan'") // an administrator's stays
	for range 8 {
		if s := state(); !strings.Contains(s, "DRAIN") {
			t.Fatalf("the check undid what an administrator did: %s", s)
		}
		l.must(t, 2, "SLURMD_NODENAME=node2 /shared/envfix/bin/envfix-health")
	}
}

func reasonOf(state string) string {
	_, reason, _ := strings.Cut(state, "Reason=")
	return strings.TrimSpace(reason)
}

// slurmFiles lays Slurm's configuration into every root.
func slurmFiles(t *testing.T, l *lab, health string) {
	t.Helper()
	etc := l.dir + "/files/etc/slurm/"
	writeText(t, etc+"slurm.conf", fmt.Sprintf(slurmConf, health))
	writeText(t, etc+"cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
	writeText(t, etc+"gres.conf", "NodeName=node1 Name=gpu Type=v100 File=/srv/gpu[0-1]\nNodeName=node2 Name=gpu Type=b200 File=/srv/gpu[0-1]\n")
}

// startSlurm starts munge and Slurm on every machine and waits for the nodes.
func startSlurm(t *testing.T, l *lab) {
	t.Helper()
	for i := 1; i <= l.n; i++ {
		l.must(t, i, "mkdir -p /run/munge /srv /var/spool/lab-ctld /var/spool/lab-d /var/log/munge; for n in 0 1; do mknod /srv/gpu$n c 1 3; done; "+
			"[ -e /shared/lab/munge.key ] || head -c 64 /dev/urandom > /shared/lab/munge.key; cp /shared/lab/munge.key /etc/munge/munge.key; "+
			"chown -R root:root /etc/munge /run/munge /var/lib/munge /var/log/munge; "+
			"chmod 600 /etc/munge/munge.key; chmod 755 /run/munge; chmod 700 /etc/munge /var/log/munge; munged --force")
	}
	l.must(t, 1, "slurmctld")
	for i := 1; i <= l.n; i++ {
		l.must(t, i, fmt.Sprintf("slurmd -N node%d", i))
	}
	var out string
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if out, _ = l.on(1, "sinfo -N -h -o '%N %T'"); strings.Count(out, "idle") == l.n {
			return
		}
	}
	logs, _ := l.on(1, "sinfo -R; tail -n 20 /var/log/slurmctld.log /var/log/slurmd.log")
	t.Fatalf("the nodes did not come up:\n%s\n%s", out, logs)
}

// must is on, and the test ends where it fails.
func (l *lab) must(t *testing.T, i int, command string) string {
	t.Helper()
	out, err := l.on(i, command)
	if err != nil {
		t.Fatalf("node%d: %s: %v\n%s", i, command, err, out)
	}
	return out
}

// wheelsFor puts on the index what the groups of some facts install.
func (l *lab) wheelsFor(t *testing.T, envfix, facts string) {
	t.Helper()
	out, err := exec.Command(envfix, "fleet", "plan", facts, "torch>=2.14", "--json").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l.groupWheels(t, envfix, out)
}
