//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// Every example of every help text is run by a shell, as it is pasted, in a
// folder that has the files it names, without a network and with stand-ins for the
// programs around envfix. It may find no lock and reach no index; it may not be
// wrong usage.
func TestHelpExamples(t *testing.T) {
	lines := helpExamples(t)
	if len(lines) < 100 {
		t.Fatalf("%d examples: the help texts have more", len(lines))
	}
	machines, err := filepath.Abs("testdata/machines")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if why := otherShell[strings.Fields(line)[len(strings.Fields(line))-1]]; why != "" {
				t.Skip(why)
			}
			out, err := runExample(t, line, machines)
			var exit *exec.ExitError
			switch {
			case err == nil:
			case !errors.As(err, &exit):
				t.Errorf("%v\n%s", err, out)
			case exit.ExitCode() == 2 && !absent.MatchString(out), exit.ExitCode() > 2 && wrongUsage.MatchString(out), strings.Contains(out, "panic: "),
				strings.Contains(out, "command not found"), strings.Contains(out, "syntax error"):
				t.Errorf("exit %d\n%s", exit.ExitCode(), out)
			}
		})
	}
}

// otherShell are last words of examples for shells that are not here.
var otherShell = map[string]string{"source": "fish pastes it", "Invoke-Expression": "PowerShell pastes it"}

// absent is what an example may end with where what it speaks of is not here: a
// terminal to ask on, a project, a lock, a tag of Git, a job, an environment on srun's machine.
var (
	absent     = regexp.MustCompile(`there is no (terminal|environment|pyproject\.toml|envfix\.lock|earlier|lock)|no such file|nor a revision of [Gg]it|names no host|no process`)
	wrongUsage = regexp.MustCompile("unknown flag|unknown command|takes no arguments")
)

// helpExamples are the lines below EXAMPLES, without what explains them.
func helpExamples(t *testing.T) []string {
	t.Helper()
	var lines []string
	take := func(text string) {
		_, text, _ = strings.Cut(text, "EXAMPLES\n")
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") { // the next heading, or what explains
				if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") {
					break
				}
				continue
			}
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  ")
			if strings.Contains(line, "envfix") && !strings.HasPrefix(line, "ansible ") && !strings.HasPrefix(line, "{") && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	each(commands(), nil, func(path []*cli.Command) {
		var b strings.Builder
		if err := showHelp(&b, path); err != nil {
			t.Fatal(err)
		}
		take(b.String())
	})
	return lines
}

// runExample runs one line in a folder of its own.
func runExample(t *testing.T, line, machines string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	paste := "RuntimeError: No CUDA GPUs are available\n"
	for name, text := range map[string]string{
		"issue.txt": paste, "requirements.txt": "numpy\n", "job.log": paste, "train.py": "print('no torch')\n", "t.py": "print('no torch')\n", "fpath/_": "",
		"nodes.csv":   "host,gpu,driver,python\na,4x Tesla V100-SXM2-16GB,580.95.05,3.10\n",
		"envfix.toml": "requirements = [\"torch\", \"rich\", \"numpy\"]\n[targets]\nv100 = \"gpu=V100 driver=580\"\ncpu = \"gpu=none\"\n",
		"bin/kubectl": "#!/bin/sh\ncat nodes.json\n", "nodes.json": `{"kind": "List", "items": [{"metadata": {"name": "k1", "labels": {
			"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0",
			"nvidia.com/cuda.driver-version.full": "570.124.06"}}, "status": {"nodeInfo": {"architecture": "amd64", "operatingSystem": "linux"}}}]}`,
		"bin/srun": "#!/bin/sh\nshift\n\"$@\"\n", "bin/jq": "#!/bin/sh\ncat\n",
		"bin/torchrun": "#!/bin/sh\nexec python3 t.py\n", "bin/python": "#!/bin/sh\ncase $2 in torch.*) cat issue.txt;; *) exec python3 \"$@\";; esac\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"facts.json", "host.json", "facts/a.json"} {
		b, err := os.ReadFile(filepath.Join(machines, "v100-server-580.json"))
		if err := errors.Join(err, os.MkdirAll(filepath.Join(dir, "facts"), 0o755), os.WriteFile(filepath.Join(dir, name), b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS("../../data")); err != nil { // a copy: some examples write there
		t.Fatal(err)
	}
	line = strings.ReplaceAll(line, "/media/", dir+"/media/")
	line = strings.ReplaceAll(line, "${fpath[1]}", dir+"/fpath")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // against a hang; nothing here takes long
	defer stop()
	cmd := exec.CommandContext(ctx, "timeout", "-s", "INT", "60", "bash", "-c", line)
	if strings.HasPrefix(line, "envfix watch") || strings.HasPrefix(line, "envfix mcp") { // they go on until they are ended
		cmd = exec.CommandContext(ctx, "timeout", "-s", "INT", "--preserve-status", "1", "bash", "-c", "exec "+line)
	}
	cmd.Dir = dir
	dead := "http://127.0.0.1:1"
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "PATH="+dir+"/bin:"+os.Getenv("PATH"), "ENVFIX_NVML=off", "NO_COLOR=1",
		"HTTPS_PROXY="+dead, "HTTP_PROXY="+dead, "https_proxy="+dead, "http_proxy="+dead, "NO_PROXY=", "no_proxy=", "UV_HTTP_RETRIES=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
