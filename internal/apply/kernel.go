package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/system"
	"envfix/internal/text"
)

// kernelName is what jupyter_client takes for the name of a kernel; it writes it in
// small letters.
var kernelName = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// CheckKernel refuses a name that Jupyter takes for no kernel; "" asks for none.
func CheckKernel(name string) error {
	if name == "" || kernelName().MatchString(name) {
		return nil
	}
	return fail.Wrong(fmt.Sprintf("`--kernel %s`: a kernel's name is small letters, digits, `.`, `_` and `-`", text.Cut(text.Escape(name), 60)),
		"`envfix apply --kernel torch`")
}

// KernelArgv is ipykernel's own command. The kernel notes the program that runs it:
// by the environment's name, so that it starts whatever later becomes of that.
func KernelArgv(dir, name string) []string {
	return []string{environmentPython(dir), "-I", "-m", "ipykernel", "install", "--user", "--name", name, "--display-name", name}
}

func environmentPython(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return Python(dir)
}

// A Kernel is one that envfix registered: so that a rollback can take it away.
type Kernel struct {
	Python string `json:"python"`
	Spec   string `json:"spec"` // the folder of its kernel.json
}

const kernelsName = "kernels.json"

// Register has ipykernel register the environment under a name, and writes down where.
func Register(ctx context.Context, dir, name string, tell io.Writer) error {
	argv := KernelArgv(dir, name)
	env := map[string]string{}
	for _, name := range []string{"JUPYTER_DATA_DIR", "XDG_DATA_HOME"} { // where Jupyter looks, too
		if v := os.Getenv(name); v != "" {
			env[name] = v
		}
	}
	var said bytes.Buffer
	if err := system.Run(ctx, system.Command{Argv: argv, Env: env, Raw: &said}); err != nil {
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s is ready, but ipykernel did not register it as the kernel %s", text.Escape(dir), name),
			Details: []string{text.Escape(err.Error())}, Err: err,
			Hints: []string{"with an envfix.lock, `envfix lock add ipykernel` brings it", "`" + text.Escape(strings.Join(argv, " ")) + "` is the command"}}
	}
	_, spec, _ := strings.Cut(strings.TrimSpace(said.String()), " in ") // "Installed kernelspec NAME in DIR"
	k := Kernel{argv[0], strings.TrimSpace(spec)}
	if !k.ours() {
		fmt.Fprintf(tell, "envfix: ipykernel said: %s\n", text.Cut(text.Escape(said.String()), 200))
		return nil
	}
	all := slices.DeleteFunc(kernels(), func(o Kernel) bool { return o.Spec == k.Spec })
	noteKernels(append(all, k))
	fmt.Fprintf(tell, "envfix: Jupyter has the kernel %s (%s)\n", name, text.Escape(k.Spec))
	return nil
}

// ours reports whether the kernel is there and still starts its environment.
func (k Kernel) ours() bool {
	var spec struct {
		Argv []string `json:"argv"`
	}
	if !filepath.IsAbs(k.Spec) || filepath.Base(filepath.Dir(k.Spec)) != "kernels" {
		return false
	}
	b, err := system.ReadOwn(filepath.Join(k.Spec, "kernel.json"), 1<<16)
	return err == nil && json.Unmarshal(b, &spec) == nil && len(spec.Argv) > 0 && spec.Argv[0] == k.Python
}

// DropKernels takes away the kernels of an environment that has no ipykernel any
// more, as after a rollback: they would not start.
func DropKernels(dir string, tell io.Writer) {
	python := environmentPython(dir)
	root := filepath.Dir(filepath.Dir(python))
	for _, pattern := range []string{"lib/python*/site-packages/ipykernel", "Lib/site-packages/ipykernel"} {
		if found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern))); len(found) > 0 {
			return
		}
	}
	left := slices.DeleteFunc(kernels(), func(k Kernel) bool {
		if k.Python != python {
			return false
		}
		if k.ours() {
			if err := os.RemoveAll(k.Spec); err != nil {
				fmt.Fprintf(tell, "envfix: warning: the kernel in %s would not start, and is left: %s\n", text.Escape(k.Spec), fail.Reason(err))
				return false
			}
			fmt.Fprintf(tell, "envfix: Jupyter's kernel %s is taken away again: this environment has no ipykernel\n", text.Escape(filepath.Base(k.Spec)))
		}
		return true
	})
	noteKernels(left)
}

func kernels() []Kernel {
	var all []Kernel
	if b, err := system.ReadOwn(filepath.Join(system.StateDir(), kernelsName), madeBytes); err == nil {
		_ = json.Unmarshal(b, &all) // a damaged list names none: nothing is taken away then
	}
	return all
}

// noteKernels writes the list down. Where it cannot, a rollback leaves the kernel.
func noteKernels(all []Kernel) {
	b, err := json.Marshal(all)
	if err == nil && os.MkdirAll(system.StateDir(), 0o700) == nil {
		_ = system.WriteFile(filepath.Join(system.StateDir(), kernelsName), b, 0o600) // see above
	}
}
