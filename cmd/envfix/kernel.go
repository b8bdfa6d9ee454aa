package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func kernelFlag() cli.Flag {
	return &cli.StringFlag{Name: "kernel", Usage: "then register the environment with Jupyter as the kernel `NAME`; ipykernel is installed"}
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
