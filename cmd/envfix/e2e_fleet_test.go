//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/plan"
)

// fleetKind is what node i of a fleet has: V100 with an old driver, B200, no GPU.
func fleetKind(i int) labKind {
	const slurm = "/usr/bin/sbatch /usr/bin/srun" // with them a machine without a GPU is a login node
	switch i % 3 {
	case 1:
		return labKind{gpu: "Tesla V100-SXM2-16GB", cc: "7,0", pci: "1db1", driver: "535.183.01", hide: slurm}
	case 2:
		return labKind{gpu: "NVIDIA B200", cc: "10,0", pci: "2901", driver: "580.95.05", hide: slurm}
	}
	return labKind{hide: slurm}
}

// A recap is the line of one host that a play ends with.
type recap struct{ ok, changed, unreachable, failed int }

var recapLine = lazy.Regexp(`(?m)^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)`)

// lockFleet asks every machine what it is, plans for them, and makes the lock.
func (c *controller) lockFleet(t *testing.T) {
	t.Helper()
	facts := c.home + "/facts.jsonl"
	c.play(t, 0, "facts", "-e", "envfix_facts="+facts)
	out, err := exec.Command(c.envfix, "fleet", "plan", facts, "torch>=2.14", "--json").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c.groupWheels(t, c.envfix, out)
	team := c.home + "/team"
	if err := os.MkdirAll(team, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(c.envfix, append([]string{"fleet", "plan", facts, "torch>=2.14", "--lock"}, c.mirrors()...)...)
	cmd.Dir = team
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
}

// groupWheels puts on the index what the three groups of a fleet's plan install.
func (l *lab) groupWheels(t *testing.T, envfix string, answer []byte) {
	t.Helper()
	var p struct {
		Groups []struct {
			Torch, Build string
			Members      []struct{ Facts, Python string }
		}
		Problems []any
	}
	if err := json.Unmarshal(answer, &p); err != nil || len(p.Groups) != 3 || len(p.Problems) > 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	for i, g := range p.Groups { // the wheels that the groups need
		file := fmt.Sprintf("%s/class%d.json", t.TempDir(), i)
		writeText(t, file, g.Members[0].Facts)
		out, err := exec.Command(envfix, "plan", "--facts", file, "torch=="+g.Torch, "--build", g.Build, "--python", g.Members[0].Python, "--json").Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		one, err := plan.Decode(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range standInWheels(one) {
			if w.Name == "torch" {
				w = computing(w)
			}
			l.x.Add(w)
		}
	}
}

func nodes(from, to int) []int {
	var out []int
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

// newFleet is a fleet of n machines and its lock.
func newFleet(t *testing.T, n int) *controller {
	t.Helper()
	if ansibleBin() == "" {
		t.Skip("no Ansible: set ENVFIX_ANSIBLE to the folder of its programs, or `make e2e-fleet`")
	}
	l := newLab(t, n, fleetKind)
	start := time.Now()
	l.up(t)
	t.Logf("%d machines are up in %.1f s", n, time.Since(start).Seconds())
	c := newController(t, l)
	c.inventory(t, nodes(1, n)...)
	c.lockFleet(t)
	return c
}

// runs is what a fleet sees where nothing goes wrong: check, first run, second run.
func (c *controller) runs(t *testing.T) {
	all, out, took := c.play(t, 0, "fleet", "--check")
	t.Logf("check on %d fresh machines: %s", c.n, took)
	c.each(t, c.n, all, out, func(r recap) bool { return r.changed == 1 && r.failed+r.unreachable == 0 })
	for i := 1; i <= c.n; i++ {
		if out, err := c.on(i, "ls /opt/envs"); err != nil || strings.TrimSpace(out) != "" {
			t.Errorf("node%d after a check: %q %v", i, out, err)
		}
	}
	results := c.home + "/results"
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal(err)
	}
	all, out, took = c.play(t, 0, "fleet", "-e", "envfix_results="+results)
	t.Logf("first run on %d machines: %s", c.n, took)
	c.each(t, c.n, all, out, func(r recap) bool { return r.changed >= 1 && r.failed+r.unreachable == 0 })

	all, out, took = c.play(t, 0, "fleet", "-e", "envfix_serial=100%")
	t.Logf("second run on %d machines: %s; a machine: %.2f s", c.n, took, took.wall.Seconds()/float64(c.n))
	c.each(t, c.n, all, out, func(r recap) bool { return r.changed+r.failed+r.unreachable == 0 })

	cmd := exec.Command(c.envfix, "fleet", "report", results, "--lock", c.home+"/team/envfix.lock")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprintf("%d machines: %d right", c.n, c.n)) {
		t.Errorf("report: %v\n%s", err, out)
	}
}

// each holds the recap of every machine to a condition.
func (c *controller) each(t *testing.T, n int, all map[string]recap, out string, right func(recap) bool) {
	t.Helper()
	for i := 1; i <= n; i++ {
		if r, ok := all[fmt.Sprint("node", i)]; !ok || !right(r) {
			t.Errorf("node%d: %+v (%v)", i, r, ok)
		}
	}
	if t.Failed() {
		t.Fatal(out)
	}
}

// TestE2EFleet is a fleet and its mishaps (ENVFIX_E2E_FLEET machines): a link that dies
// on the way, a full disk, a driver that waits for a reboot, a canary that breaks. The
// others finish, or are not touched.
func TestE2EFleet(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("ENVFIX_E2E_FLEET"))
	if err != nil {
		t.Skip("needs ENVFIX_E2E_FLEET=30 (make e2e-fleet)")
	}
	if n < 6 {
		t.Fatalf("ENVFIX_E2E_FLEET=%d: at least 6", n)
	}
	c := newFleet(t, n)
	t.Run("runs", c.runs)
	fresh := func() { // the machines as they were before the first run
		for i := 1; i <= n; i++ {
			if out, err := c.on(i, "umount -q /opt/envs; rm -rf /opt/envs/* /opt/envs/.e* /var/lib/envfix-*"); err != nil {
				t.Fatalf("node%d: %v %s", i, err, out)
			}
		}
	}

	t.Run("become", func(t *testing.T) { // a login that is not root's, by su: it needs no package
		fresh()
		if out, err := c.on(1, "useradd -m -p '*' ops && echo root:lab | chpasswd"); err != nil {
			t.Fatal(err, out)
		}
		all, out, took := c.play(t, 0, "fleet", "--limit", "node1", "-e", "ansible_user=ops", "-e", "envfix_become=true",
			"-e", "ansible_become_method=su", "-e", "ansible_become_password=lab")
		t.Logf("by another login: %s", took)
		if r := all["node1"]; r.changed == 0 || r.failed+r.unreachable > 0 {
			t.Errorf("node1: %+v\n%s", r, out)
		}
		if out, err := c.on(1, "find /opt/envs /var/lib/envfix-* ! -user root; id -u ops; ls /opt/envs"); err != nil || strings.Contains(out, "/") || strings.Count(out, "\n") < 2 {
			t.Errorf("%v: %s", err, out)
		}
	})

	t.Run("full disk", func(t *testing.T) {
		fresh()
		if out, err := c.on(5, "mount -t tmpfs -o size=4m tmpfs /opt/envs"); err != nil {
			t.Fatal(err, out)
		}
		all, out, took := c.play(t, 2, "fleet")
		t.Logf("one full disk: %s", took)
		if r := all["node5"]; r.failed != 1 || !strings.Contains(out, "MB free, and the plan needs") {
			t.Errorf("node5: %+v\n%s", r, out)
		}
		c.others(t, n, 5, all, out)
	})

	t.Run("dead link", func(t *testing.T) {
		fresh()
		cut := time.AfterFunc(4*time.Second, func() { c.script(t, "cut", "5") })
		all, out, took := c.play(t, 4, "fleet", "-e", "envfix_serial=100%")
		cut.Stop()
		c.script(t, "mend", "5")
		t.Logf("one dead link: %s", took)
		if r := all["node5"]; r.unreachable != 1 {
			t.Errorf("node5: %+v\n%s", r, out)
		}
		c.others(t, n, 5, all, out)
	})

	t.Run("reboot", func(t *testing.T) {
		fresh()
		k := fleetKind(1)
		k.loaded = "535.54.03"
		writeText(t, c.dir+"/before", k.env())
		writeText(t, c.dir+"/after", fleetKind(1).env())
		c.setEnv(t, 1, "before")
		all, out, _ := c.play(t, 2, "fleet", "-e", "envfix_serial=100%") // without leave to reboot it is said
		if r := all["node1"]; r.failed != 1 || !strings.Contains(out, "reboot") {
			t.Errorf("node1: %+v\n%s", r, out)
		}
		c.others(t, n, 1, all, out)
		// What a reboot does here: another /etc/lab/env, another boot, new sessions.
		must(t, "scp", "-q", "-i", c.dir+"/id", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
			c.dir+"/after", "root@10.77.0.11:/etc/lab/after")
		reboot := "sh -c 'cp /etc/lab/after /etc/lab/env; echo $$ > /etc/lab/boot; mkdir -p /sys/module/nvidia; echo 535.183.01 > /sys/module/nvidia/version; " +
			"umount /sys/bus/pci/devices; kill $(cat /run/sshd.pid)'"
		all, out, took := c.play(t, 0, "fleet", "--limit", "node1", "-e", "envfix_reboot=true", "-e", "envfix_reboot_command="+strconv.Quote(reboot),
			"-e", `{"envfix_boot_time_command": "cat /etc/lab/boot /etc/hostname"}`)
		t.Logf("the rest behind a reboot: %s", took)
		if r := all["node1"]; r.failed+r.unreachable != 0 {
			t.Errorf("node1: %+v\n%s", r, out)
		}
	})

	t.Run("canary", func(t *testing.T) {
		fresh()
		if out, err := c.on(1, "mount -t tmpfs -o size=64k tmpfs /opt/envs"); err != nil {
			t.Fatal(err, out)
		}
		all, out, took := c.play(t, 2, "fleet")
		t.Logf("a canary that breaks: %s", took)
		if len(all) != 1 || all["node1"].failed != 1 {
			t.Errorf("%+v\n%s", all, out)
		}
		for i := 2; i <= n; i++ {
			if out, err := c.on(i, "ls /opt/envs /var/lib | grep envfix-"); err == nil {
				t.Errorf("node%d was touched: %s", i, out)
			}
		}
	})
}

// others holds every machine but one to have been made, and to be right.
func (c *controller) others(t *testing.T, n, not int, all map[string]recap, out string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		if r := all[fmt.Sprint("node", i)]; i != not && (r.changed == 0 || r.failed+r.unreachable > 0) {
			t.Errorf("node%d: %+v\n%s", i, r, out)
		}
	}
	if _, out, _ := c.play(t, 0, "fleet", "--check", "--limit", fmt.Sprintf("all:!node%d", not), "-e", "envfix_serial=100%"); strings.Contains(out, "changed=1") {
		t.Errorf("some machine is not what the lock says:\n%s", out)
	}
}

// setEnv gives a machine what another env says, and ends its sessions.
func (c *controller) setEnv(t *testing.T, i int, name string) {
	t.Helper()
	text := fileText(t, c.dir+"/"+name)
	cmd := exec.Command("ssh", "-i", c.dir+"/id", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
		fmt.Sprintf("root@10.77.0.%d", 10+i), "cat > /etc/lab/env; mkdir -p /sys/module/nvidia; sed -n s/^SYSMODULE=//p /etc/lab/env > /sys/module/nvidia/version; "+
			"mount -t tmpfs tmpfs /sys/bus/pci/devices; mkdir /sys/bus/pci/devices/0000:3b:00.0; cd /sys/bus/pci/devices/0000:3b:00.0; "+
			"echo 0x10de > vendor; echo 0x030200 > class; sed -n s/^PCI=/0x/p /etc/lab/env > device; kill $(cat /run/sshd.pid)")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("node%d: %v %s", i, err, out) // its own sshd ended
	}
	for range 100 {
		if _, err := c.on(i, "true"); err == nil {
			return
		}
	}
	t.Fatalf("node%d did not come back", i)
}
