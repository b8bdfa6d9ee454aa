//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// manyChildren starts that many processes that wait, and ends with 7 if all were there.
const manyChildren = `#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int n = atoi(argv[1]), got = 0, ended = 0, p[2];
	char b;
	if (pipe(p)) return 9;
	for (int i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0) {
			close(p[1]);
			_exit((int)read(p[0], &b, 1));
		}
		got += child > 0;
	}
	sleep(1);
	close(p[1]);
	while (wait(0) > 0) ended++;
	printf("%d started, %d ended\n", got, ended);
	return got == n && ended == n ? 7 : 1;
}
`

// A job of thousands of processes is watched as far as that goes, and runs and ends as
// it does alone.
func TestE2EManyChildren(t *testing.T) {
	mode := os.Getenv("ENVFIX_E2E")
	if mode == "" {
		t.Skip("it starts thousands of processes: `make e2e` does")
	}
	n := "2000" // more than are watched
	if mode == "all" {
		n = "10000"
	}
	dir := t.TempDir()
	job := filepath.Join(dir, "job")
	if err := os.WriteFile(job+".c", []byte(manyChildren), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := execute(nil, "cc", "-O2", "-o", job, job+".c"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(job, n).CombinedOutput(); err == nil || !strings.HasPrefix(string(out), n+" started, "+n+" ended") {
		t.Skipf("this machine does not let a user have %s processes: %s", n, out)
	}
	c := exec.Command(file(t, static, "envfix"), "run", "--", job, n)
	c.Env = append(os.Environ(), "HOME="+dir, "ENVFIX_NVML=off")
	out, err := c.Output()
	if c.ProcessState.ExitCode() != 7 || string(out) != n+" started, "+n+" ended\n" {
		t.Errorf("the job under run: %v, %q", err, out)
	}
}
