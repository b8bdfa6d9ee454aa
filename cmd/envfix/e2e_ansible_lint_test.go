//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestE2EAnsibleLint holds the collection to ansible-lint's profile "production".
func TestE2EAnsibleLint(t *testing.T) {
	lint := ansibleBin() + "/ansible-lint"
	if _, err := os.Stat(lint); err != nil || os.Getenv("ENVFIX_E2E_FLEET") == "" {
		t.Skip("needs ENVFIX_E2E_FLEET and ansible-lint beside ansible-playbook (make e2e-fleet)")
	}
	dir := t.TempDir()
	must(t, "cp", "-r", "../../deploy/ansible", dir+"/gpu") // it leaves its cache where it looks
	env := append(os.Environ(), "PATH="+ansibleBin()+":"+os.Getenv("PATH"), "ANSIBLE_COLLECTIONS_PATH="+dir+"/collections", "ANSIBLE_HOME="+dir+"/home")
	for _, argv := range [][]string{
		{ansibleBin() + "/ansible-galaxy", "collection", "install", "--offline", "-p", dir + "/collections", dir + "/gpu"},
		{lint, "--offline", "--nocolor", "--profile", "production"},
	} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir+"/gpu", env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		t.Logf("%s", out)
	}
}
