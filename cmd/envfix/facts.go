package main

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func factsCommand() *cli.Command {
	return &cli.Command{
		Name:  "facts",
		Usage: "show what this machine is: GPUs, driver, system, Pythons, tools",
		Description: `Reads this machine and changes nothing. NVIDIA's library is loaded by a child
process that has two seconds; no Python and no package manager is started.
ENVFIX_NVML names another library, or is off. ENVFIX_ROOT names a directory
to read instead of /, such as a mounted disk image.

EXAMPLES
  envfix facts
  envfix facts --json > facts.json
  envfix facts --json --anonymize     for a bug report
  envfix plan --facts facts.json      plan for that machine on another

EXIT STATUS
  0  always, but for usage errors: what cannot be read is unknown`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the facts as JSON"},
			&cli.BoolFlag{Name: "anonymize", Usage: "remove host and user names, UUIDs and paths below home"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "list every package, tool and variable, and how each fact is known"},
			&cli.StringFlag{Name: "env", Value: ".venv", Usage: "the environment in `DIR`"},
		},
		Action: factsAction,
	}
}

func factsAction(c *cli.Context) error {
	if err := noArguments(c, 0); err != nil {
		return err
	}
	m := thisMachine(c)
	if c.Bool("anonymize") {
		m = m.Anonymize(ownWords()...)
	}
	if c.Bool("json") {
		_, err := os.Stdout.Write(m.Encode())
		return err
	}
	_, err := fmt.Print(ui.Facts(m, c.Bool("verbose"), style(os.Stdout)))
	return err
}

// ownWords are the words that tell whose machine this is.
func ownWords() []string {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	words := []string{host, short}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) != "/" {
		words = append(words, home)
	}
	if u, err := user.Current(); err == nil && u.Username != "root" {
		words = append(words, u.Username)
	}
	return words
}

// thisMachine reads the facts of this machine, or of the one below ENVFIX_ROOT,
// for the environment that the command is about.
func thisMachine(c *cli.Context) machine.Machine { return machineWith(c, c.String("env")) }

// machineWith reads the facts of this machine for the environment in a directory.
// Any other than .venv was named by somebody, and then an activated environment
// does not stand in for it.
func machineWith(c *cli.Context, env string) machine.Machine {
	o := probeOptions(env)
	o.Use = c.Command.Name == "facts" || c.Command.Name == "doctor" // no plan stands on it
	return probe.Gather(c.Context, o)
}

// probeOptions say where to look for this machine and an environment.
func probeOptions(env string) probe.Options {
	env = cmp.Or(env, ".venv")
	o := probe.Options{
		Root: os.Getenv("ENVFIX_ROOT"), Env: os.Environ(), NVML: os.Getenv("ENVFIX_NVML"),
		Venv: env, Named: filepath.Clean(env) != ".venv",
	}
	if o.Root == "" {
		o.Dir, _ = os.Getwd()
	}
	o.Self, _ = os.Executable()
	o.Limit = probeLimit()
	o.Device, o.ByName = deviceLookups()
	return o
}

// probeLimit is how long other programs may take that a machine is asked by; 0: as
// long as each usually may. ENVFIX_PROBE_LIMIT sets it, for tests: for what hangs
// nobody wants to wait, and a busy machine must not look like a driver that hangs.
func probeLimit() time.Duration {
	d, err := time.ParseDuration(os.Getenv("ENVFIX_PROBE_LIMIT"))
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// deviceLookups ask the device table by id and by name. It is read when the
// first question comes, which is never where a driver answers everything.
func deviceLookups() (byID func(probe.PCI) (probe.Device, bool), byName func(string) (probe.Device, bool)) {
	table := sync.OnceValues(matrix.Devices)
	byID = func(p probe.PCI) (probe.Device, bool) {
		t, err := table()
		if err != nil {
			return probe.Device{}, false
		}
		d, ok := t.LookupPCI(p.Vendor+":"+p.Device, p.SubVendor+":"+p.SubDevice)
		return known(d), ok
	}
	byName = func(name string) (probe.Device, bool) {
		t, err := table()
		if err != nil {
			return probe.Device{}, false
		}
		found := t.LookupName(name)
		if len(found) != 1 {
			return probe.Device{}, false
		}
		return known(found[0]), true
	}
	return byID, byName
}

func known(d matrix.Device) probe.Device {
	return probe.Device{Name: d.Name, SM: d.SM, GFX: d.GFX, Integrated: insideProcessor(d)}
}

// insideProcessor tells Intel's graphics of processors from cards by their names.
func insideProcessor(d matrix.Device) bool {
	if d.Vendor == machine.Apple {
		return true
	}
	if d.Vendor != machine.Intel {
		return false
	}
	for _, mark := range []string{"UHD", "Iris", "HD Graphics", "[Intel Graphics]"} {
		if strings.Contains(d.Name, mark) {
			return true
		}
	}
	return false
}
