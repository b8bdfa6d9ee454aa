//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestE2EFleetSmall is three machines, where there can be some: the commands of
// docs/fleet.md, one after another, and the second run that changes nothing.
func TestE2EFleetSmall(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" && os.Getenv("ENVFIX_E2E_FLEET") == "" {
		t.Skip("needs ENVFIX_E2E=1")
	}
	if ansibleBin() == "" {
		t.Skip("no Ansible: set ENVFIX_ANSIBLE to the folder of its programs, or `make e2e-fleet`")
	}
	const n = 3
	l := newLab(t, n, fleetKind)
	l.up(t)
	c := newController(t, l)
	c.inventory(t, nodes(1, n)...)
	dir := t.TempDir()
	must(t, "cp", "-r", "../../deploy", dir)
	must(t, "install", "-D", c.envfix, dir+"/bin/envfix")
	writeText(t, dir+"/fleet.yml", docBlock(t, "Ansible", "yaml")+
		fmt.Sprintf("envfix_args: %s\nenvfix_poll: 1\nenvfix_serial: 100%%\n", mustJSON(t, l.mirrors())))
	env := append(c.env, "MIRROR="+strings.Join(l.mirrors(), " "))
	var out string
	for line := range strings.Lines(docBlock(t, "Ansible", "sh")) {
		start := time.Now()
		out = inShell(t, dir, line, env...)
		t.Logf("%.1f s  %s", time.Since(start).Seconds(), strings.TrimSpace(line))
		switch {
		case strings.Contains(line, "envfix.gpu.facts"):
			l.wheelsFor(t, c.envfix, dir+"/facts.jsonl")
		case strings.Contains(line, "--check"):
			for i := 1; i <= n; i++ {
				if made, err := l.on(i, "ls /opt/envs"); err != nil || strings.TrimSpace(made) != "" {
					t.Errorf("node%d after a check: %q %v", i, made, err)
				}
			}
		}
	}
	if !strings.Contains(out, fmt.Sprintf("%d machines: %d right", n, n)) {
		t.Error(out)
	}
	again := inShell(t, dir, "ansible-playbook envfix.gpu.fleet -e @fleet.yml", env...)
	if strings.Count(again, "changed=0") < n || strings.Contains(again, "changed=1") {
		t.Errorf("the second run changes something:\n%s", again)
	}
}
