//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A controller is where Ansible runs: a lab, the installed collection, a folder with
// an inventory and the lock.
type controller struct {
	*lab
	home    string
	envfix  string
	ansible string // the folder of its programs
	env     []string
}

// ansibleBin is where Ansible's programs are: ENVFIX_ANSIBLE, or PATH; "" nowhere.
func ansibleBin() string {
	if dir := os.Getenv("ENVFIX_ANSIBLE"); dir != "" {
		return dir
	}
	p, err := exec.LookPath("ansible-playbook")
	if err != nil {
		return ""
	}
	return filepath.Dir(p)
}

func newController(t *testing.T, l *lab) *controller {
	t.Helper()
	c := &controller{lab: l, home: t.TempDir(), envfix: build(t), ansible: ansibleBin()}
	collections := c.home + "/collections"
	config, err := filepath.Abs("../../deploy/ansible/ansible.cfg")
	if err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "PATH="+c.ansible+":"+os.Getenv("PATH"), "ANSIBLE_CONFIG="+config, "ANSIBLE_COLLECTIONS_PATH="+collections,
		"ANSIBLE_HOME="+l.dir+"/a", "ANSIBLE_HOST_KEY_CHECKING=false", "ANSIBLE_NOCOLOR=1", "ANSIBLE_INVENTORY="+c.home+"/hosts",
		"ANSIBLE_SSH_CONTROL_PATH_DIR="+l.dir+"/cp", "ANSIBLE_LOCALHOST_WARNING=false", "ANSIBLE_INVENTORY_UNPARSED_WARNING=false")
	c.run(t, 0, "ansible-galaxy", "collection", "build", "--output-path", c.home, "../../deploy/ansible")
	archives, err := filepath.Glob(c.home + "/envfix-gpu-*.tar.gz")
	if err != nil || len(archives) != 1 {
		t.Fatalf("%q, %v", archives, err)
	}
	c.run(t, 0, "ansible-galaxy", "collection", "install", "--offline", "-p", collections, archives[0])
	return c
}

// inventory names the machines that are played on.
func (c *controller) inventory(t *testing.T, nodes ...int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("[all]\n")
	for _, i := range nodes {
		fmt.Fprintf(&b, "node%d ansible_host=10.77.0.%d\n", i, 10+i)
	}
	fmt.Fprintf(&b, "[all:vars]\nansible_user=root\nansible_ssh_private_key_file=%s/id\nansible_python_interpreter=/usr/bin/python3\n"+
		"ansible_ssh_common_args='-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR'\n", c.dir)
	writeText(t, c.home+"/hosts", b.String())
}

// run runs one of Ansible's programs and wants that exit code.
func (c *controller) run(t *testing.T, want int, name string, args ...string) string {
	t.Helper()
	return ended(t, want, c.command(name, args...))
}

func (c *controller) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(c.ansible+"/"+name, args...)
	cmd.Env = c.env
	return cmd
}

// ended runs a command and wants that exit code.
func ended(t *testing.T, want int, cmd *exec.Cmd) string {
	t.Helper()
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(cmd.Args, " "), got, want, out)
	}
	return string(out)
}

// A span is how long a play took, and the processor time of Ansible and its ssh.
type span struct{ wall, processor time.Duration }

func (s span) String() string {
	load, _ := os.ReadFile("/proc/loadavg") // none: nothing is said of it
	return fmt.Sprintf("%.1f s, %.1f s of the controller's processor time, at a load of %.4s", s.wall.Seconds(), s.processor.Seconds(), load)
}

// play runs a playbook of the collection and returns each host's recap and the time.
func (c *controller) play(t *testing.T, want int, name string, args ...string) (map[string]recap, string, span) {
	t.Helper()
	args = append([]string{"envfix.gpu." + name, "-e", "envfix_binary=" + c.envfix, "-e", "envfix_lock_dir=" + c.home + "/team",
		"-e", "envfix_poll=1", "-e", "envfix_cache_dir=" + c.home + "/cache",
		"-e", string(mustJSON(t, map[string]any{"envfix_args": c.mirrors()}))}, args...)
	start := time.Now()
	cmd := c.command("ansible-playbook", args...)
	out := ended(t, want, cmd)
	took := span{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	all := map[string]recap{}
	for _, m := range recapLine().FindAllStringSubmatch(out, -1) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2])
		}
		all[m[1]] = recap{n[0], n[1], n[2], n[3]}
	}
	return all, out, took
}
