// Envfix-nvml loads NVIDIA's library and prints what it says, for the static build
// of envfix, which carries it. People never start it.
//
//	envfix-nvml __nvml [use] [LIBRARY…]
//	envfix-nvml __nvmlsample INTERVAL [LIBRARY…]
package main

import (
	"fmt"
	"os"
	"time"

	"envfix/internal/nvmlchild"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "envfix-nvml: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 0 && args[0] == nvmlchild.ReportCommand:
		return nvmlchild.ServeNVML(os.Stdout, args[1:])
	case len(args) > 1 && args[0] == nvmlchild.SampleCommand:
		every, err := time.ParseDuration(args[1])
		if err != nil || every < time.Millisecond {
			return fmt.Errorf("%q is no interval, such as 200ms", args[1])
		}
		return nvmlchild.ServeSamples(os.Stdin, os.Stdout, every, args[2:])
	}
	return fmt.Errorf("the first word is %s or %s", nvmlchild.ReportCommand, nvmlchild.SampleCommand)
}
