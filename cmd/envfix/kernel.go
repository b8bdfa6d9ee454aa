package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func kernelFlag() cli.Flag {
	return &cli.StringFlag{Name: "kernel", Usage: "then register the environment with Jupyter as the kernel `NAME`; ipykernel is installed"}
}

// kernelName is what jupyter_client takes for the name of a kernel; it writes it in
// small letters.
var kernelName = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func badKernel(name string) error {
	if name == "" || kernelName().MatchString(name) {
		return nil
	}
	return fail.Wrong(fmt.Sprintf("`--kernel %s`: a kernel's name is small letters, digits, `.`, `_` and `-`", ui.Clip(name, 60)),
		"`envfix apply --kernel torch`")
}

// withKernel is the wish with what a kernel needs, where nothing locks the packages.
func (f planFlags) withKernel() planFlags {
	w := &f.wish
	plans := slices.ContainsFunc(w.Arguments, func(a string) bool { return strings.HasSuffix(a, ".json") })
	if f.kernel == "" || plans {
		return f
	}
	switch {
	case len(w.Arguments)+len(w.Files) > 0:
		w.Arguments = append(slices.Clone(w.Arguments), "ipykernel")
	case f.lock.none || f.lock.bundle == "" && governing() == "":
		w.Arguments = []string{"torch", "torchvision", "ipykernel"} // what is installed without a wish, and ipykernel
	}
	return f
}

// kernelArgv is ipykernel's own command. The kernel notes the program that runs it:
// by the environment's name, so that it starts whatever later becomes of that.
func kernelArgv(dir, name string) []string {
	return []string{environmentPython(dir), "-I", "-m", "ipykernel", "install", "--user", "--name", name, "--display-name", name}
}

func environmentPython(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return apply.Python(dir)
}

// kernelText says what follows the plan's steps, since it reaches beyond the
// environment; "" where Jupyter is told nothing.
func kernelText(p *plan.Plan, dir, name string) string {
	if name == "" {
		return ""
	}
	argv := kernelArgv(dir, name)
	if p.Basis.Request.Described { // its path there is not known here
		argv[0] = dir + "/" + p.Interpreter()
	}
	return fmt.Sprintf("\nthen, beyond %s: register it with Jupyter as the kernel %s\n  %s\n",
		ui.Clean(dir), name, ui.Clean(strings.Join(argv, " ")))
}

// kernelScript is the same as the last lines of a plan's script: the name holds nothing
// that a shell reads otherwise (badKernel).
func kernelScript(name, python string, powershell bool) text.Quoted {
	switch {
	case name == "":
		return text.Const("")
	case powershell:
		return text.Form("\n# beyond the environment: a kernel for Jupyter\nInvoke-Step @{} ($gen + '/%s') "+
			"@('-I', '-m', 'ipykernel', 'install', '--user', '--name', '%s', '--display-name', '%[2]s')\n", text.Word(python), text.Word(name))
	}
	return text.Form("\n# beyond the environment: a kernel for Jupyter, where it looks for one\n"+
		`user ${JUPYTER_DATA_DIR:+"JUPYTER_DATA_DIR=$JUPYTER_DATA_DIR"} ${XDG_DATA_HOME:+"XDG_DATA_HOME=$XDG_DATA_HOME"} \`+"\n"+
		`  "$target"/%s -I -m ipykernel install --user --name %s --display-name %[2]s`+"\n", text.Word(python), text.Word(name))
}

// A kernel is one that envfix registered: so that a rollback can take it away.
type kernel struct {
	Python string `json:"python"`
	Spec   string `json:"spec"` // the folder of its kernel.json
}

const kernelsName = "kernels.json"

// register has ipykernel register the environment, and writes down where.
func (f applyFlags) register(ctx context.Context, dir string) error {
	argv := kernelArgv(dir, f.made.kernel)
	env := map[string]string{}
	for _, name := range []string{"JUPYTER_DATA_DIR", "XDG_DATA_HOME"} { // where Jupyter looks, too
		if v := os.Getenv(name); v != "" {
			env[name] = v
		}
	}
	var said bytes.Buffer
	if err := system.Run(ctx, system.Command{Argv: argv, Env: env, Raw: &said}); err != nil {
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s is ready, but ipykernel did not register it as the kernel %s", ui.Clean(dir), f.made.kernel),
			Details: []string{ui.Clean(err.Error())}, Err: err,
			Hints: []string{"with an envfix.lock, `envfix lock add ipykernel` brings it", "`" + ui.Clean(strings.Join(argv, " ")) + "` is the command"}}
	}
	_, spec, _ := strings.Cut(strings.TrimSpace(said.String()), " in ") // "Installed kernelspec NAME in DIR"
	k := kernel{argv[0], strings.TrimSpace(spec)}
	if !k.ours() {
		fmt.Fprintf(stderr(), "envfix: ipykernel said: %s\n", ui.Clip(said.String(), 200))
		return nil
	}
	all := slices.DeleteFunc(kernels(), func(o kernel) bool { return o.Spec == k.Spec })
	noteKernels(append(all, k))
	fmt.Fprintf(stderr(), "envfix: Jupyter has the kernel %s (%s)\n", f.made.kernel, ui.Clean(k.Spec))
	return nil
}

// ours reports whether the kernel is there and still starts its environment.
func (k kernel) ours() bool {
	var spec struct {
		Argv []string `json:"argv"`
	}
	if !filepath.IsAbs(k.Spec) || filepath.Base(filepath.Dir(k.Spec)) != "kernels" {
		return false
	}
	b, err := system.ReadOwn(filepath.Join(k.Spec, "kernel.json"), 1<<16)
	return err == nil && json.Unmarshal(b, &spec) == nil && len(spec.Argv) > 0 && spec.Argv[0] == k.Python
}

// dropKernels takes away the kernels of an environment that has no ipykernel any
// more, as after a rollback: they would not start.
func dropKernels(dir string) {
	python := environmentPython(dir)
	root := filepath.Dir(filepath.Dir(python))
	for _, pattern := range []string{"lib/python*/site-packages/ipykernel", "Lib/site-packages/ipykernel"} {
		if found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern))); len(found) > 0 {
			return
		}
	}
	left := slices.DeleteFunc(kernels(), func(k kernel) bool {
		if k.Python != python {
			return false
		}
		if k.ours() {
			if err := os.RemoveAll(k.Spec); err != nil {
				fmt.Fprintf(stderr(), "envfix: warning: the kernel in %s would not start, and is left: %s\n", ui.Clean(k.Spec), fail.Reason(err))
				return false
			}
			fmt.Fprintf(stderr(), "envfix: Jupyter's kernel %s is taken away again: this environment has no ipykernel\n", ui.Clean(filepath.Base(k.Spec)))
		}
		return true
	})
	noteKernels(left)
}

func kernels() []kernel {
	var all []kernel
	if b, err := system.ReadOwn(filepath.Join(stateDir(), kernelsName), madeBytes); err == nil {
		_ = json.Unmarshal(b, &all) // a damaged list names none: nothing is taken away then
	}
	return all
}

// noteKernels writes the list down. Where it cannot, a rollback leaves the kernel.
func noteKernels(all []kernel) {
	b, err := json.Marshal(all)
	if err == nil && os.MkdirAll(stateDir(), 0o700) == nil {
		_ = system.WriteFile(filepath.Join(stateDir(), kernelsName), b, 0o600) // see above
	}
}
