package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/managers"

	"github.com/urfave/cli/v2"
)

// The flags that several commands share. An Action reads them once, with the
// functions below, into a struct of this file; what it calls sees the struct and
// never the library's context.

// describeFlags are the flags that describe a machine, whole or in part, instead
// of this one.
func describeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "facts", Usage: "the machine in `FILE`, which `envfix facts --json` wrote there; - reads standard input"},
		&cli.StringSliceFlag{Name: "gpu", Usage: "this `GPU`: a name (\"RTX 5090\"), 9.0, sm_90, gfx1100, or none; repeat it for several"},
		&cli.StringFlag{Name: "driver", Usage: "this `VERSION` of the NVIDIA driver, or none"},
		&cli.StringFlag{Name: "os", Usage: "this `SYSTEM`: linux, windows, macos or wsl2"},
		&cli.StringFlag{Name: "arch", Usage: "this `ARCH`: x86_64, aarch64 or arm64"},
		&cli.StringFlag{Name: "libc", Usage: "this C `LIBRARY`: glibc-2.28 or musl-1.2"},
	}
}

// requestFlags are the flags that say what is wanted; plan, apply, why and doctor
// share them.
func requestFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "read requirements from `FILE`, or from a pyproject.toml"},
		&cli.StringFlag{Name: "python", Usage: "Python `VERSION`, such as 3.12 or 3.14t"},
		&cli.StringFlag{Name: "cuda", Usage: "CUDA `VERSION`: 12.6 is that one, 12 any 12.x"},
		&cli.StringFlag{Name: "build", Usage: "`BUILD` of torch: cu126, cpu, rocm7.2, xpu or mps"},
		&cli.BoolFlag{Name: "cpu", Usage: "a CPU build is what is wanted"},
		&cli.StringFlag{Name: "manager", Usage: "install with `TOOL`: " + strings.Join(managers.Names(), ", ")},
		envFlag(),
		&cli.BoolFlag{Name: "in-place", Usage: "change the environment itself instead of building a new one beside it"},
		&cli.BoolFlag{Name: "offline", Usage: "use no network"},
		&cli.BoolFlag{Name: "check-packages", Usage: "have uv resolve all packages first; apply does so where more than torch is asked for"},
		&cli.BoolFlag{Name: "change-driver", Usage: "the plan may install or change the driver"},
		&cli.BoolFlag{Name: "jit", Usage: "the job compiles kernels at run time (torch.compile, triton)"},
		&cli.StringSliceFlag{Name: "as-named", Usage: "the package `NAME` is meant as it is written, though it is like a known one"},
		&cli.StringSliceFlag{Name: "allow-url", Usage: "the package `NAME` may come from its project's address, by hash, where the index has no wheel"},
		&cli.StringFlag{Name: "only-index", Usage: "take torch only from `INDEX`: default, pytorch or a URL"},
		&cli.StringFlag{Name: "channel", Usage: "take torch from PyTorch's `CHANNEL` nightly or test, which nobody has proven; never taken unasked"},
		&cli.StringSliceFlag{Name: "mirror", Usage: "`FROM=TO`: fetch TO wherever a plan names FROM"},
		&cli.StringFlag{Name: "gpus", Usage: "use only these GPUs: a `LIST` of indexes such as 0,2"},
	}
}

// carryFlags say which packages of the environment that is replaced are not
// carried over.
func carryFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "drop", Usage: "do not carry the package `NAME` over; repeat it for several"},
		&cli.BoolFlag{Name: "fresh", Usage: "carry no package over"},
		&cli.StringSliceFlag{Name: "from-index", Usage: "the package `NAME` that is carried over is from the index in use; \"all\" of them"},
	}
}

func envFlag() cli.Flag {
	return &cli.StringFlag{Name: "env", Value: ".venv", Usage: "the environment in `DIR`"}
}

func jsonFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: usage} }

func verboseFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: usage}
}

// machineFlags say which machine a command is about.
type machineFlags struct {
	facts string           // a file of facts; "" this machine
	words describe.Machine // facts to put in place of those found
	env   string           // the environment that this machine is read for
	use   bool             // see who uses its GPUs, too

	carriesOut bool // for apply and doctor --fix, which work on this machine whatever is described
}

// elsewhere reports whether the machine is another one, at least its system.
func (f machineFlags) elsewhere() bool {
	return f.facts != "" || f.words.OS != "" || f.words.Arch != ""
}

func machineOf(c *cli.Context) (machineFlags, error) {
	f := machineFlags{
		facts:      c.String("facts"),
		env:        placeOf(c).forPlan().dir,
		carriesOut: c.Command.Name == "apply" || c.Command.Name == "doctor",
		words: describe.Machine{
			GPUs: c.StringSlice(
				"gpu",
			), Driver: c.String("driver"), OS: c.String("os"), Arch: c.String("arch"), Libc: c.String("libc"), Whole: c.IsSet("facts")},
	}
	for _, name := range []string{"facts", "driver", "os", "arch", "libc"} {
		if c.IsSet(name) && c.String(name) == "" {
			return f, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("flag `--%s` needs a value", name)}
		}
	}
	return f, nil
}

// wishFlags say what is wanted: the words, the requirements and the files of them.
type wishFlags struct {
	describe.Request
	arguments []string
	files     []string
	project   string   // the directory of the project that is followed; "" none
	demands   string   // what the followed environment.yml demands of Python; "" nothing
	said      []string // which files of the project were read, and which were not followed
}

func wishOf(c *cli.Context) wishFlags {
	return wishFlags{
		Request: describe.Request{Python: c.String("python"), CUDA: c.String("cuda"), Build: c.String("build"), Manager: c.String("manager"),
			OnlyIndex: c.String(
				"only-index",
			), Channel: c.String("channel"), AllowURL: c.StringSlice("allow-url"), AsNamed: c.StringSlice("as-named"),
			GPUs: c.String("gpus"), CPU: c.Bool("cpu"), JIT: c.Bool("jit"), ChangeDriver: c.Bool("change-driver")},
		arguments: c.Args().Slice(), files: c.StringSlice("requirements"),
	}
}

// placeFlags say where packages go, and from where they come.
type placeFlags struct {
	place   place
	env     string // the directory of what a plan is for
	manager string
	inPlace bool
	offline bool
	check   bool     // have uv resolve the packages before anything is said to fit
	fresh   bool     // carry no package over
	drop    []string // packages not to carry over
	from    []string // packages that are from the index in use
	mirrors []string // FROM=TO
}

func targetOf(c *cli.Context) placeFlags {
	p := placeOf(c)
	return placeFlags{place: p, env: p.forPlan().dir, manager: c.String("manager"), inPlace: c.Bool("in-place"),
		offline: c.Bool("offline"), check: c.Bool("check-packages"), fresh: c.Bool("fresh"), drop: c.StringSlice("drop"),
		from: c.StringSlice("from-index"), mirrors: c.StringSlice("mirror")}
}

// planFlags are all that a plan is made from.
type planFlags struct {
	machine    machineFlags
	wish       wishFlags
	target     placeFlags
	lock       followFlags
	kernel     string // the name for Jupyter; "" it is told nothing
	carriesOut bool   // the plan is for apply, which runs the programs that are here
}

func planOf(c *cli.Context) (planFlags, error) {
	m, err := machineOf(c)
	f := planFlags{machine: m, wish: wishOf(c), target: targetOf(c), lock: followOf(c), kernel: c.String("kernel"), carriesOut: c.Command.Name == "apply" || c.Command.Name == "sync"}
	if err := errors.Join(err, badKernel(f.kernel)); err != nil {
		return f, err
	}
	if f.machine.elsewhere() && !f.target.place.named && !f.carriesOut { // what is active here is not active there
		f.target.place = place{dir: defaultEnv}
		f.target.env, f.machine.env = defaultEnv, defaultEnv
	}
	if err := f.project(c.IsSet("env")); err != nil {
		return f, err
	}
	return f, f.environment()
}

// firstSet is the first of the names that is given as a flag, "" where none is.
func firstSet(c *cli.Context, names ...string) string {
	if i := slices.IndexFunc(names, c.IsSet); i >= 0 {
		return names[i]
	}
	return ""
}
