package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/text"

	"envfix/internal/ci/must"
)

// ziglang is the C compiler of the child that loads NVML, from the Python index: it
// builds for both architectures and for a glibc as old as any that torch knows.
const ziglang = "ziglang==0.17.1"

// child builds cmd/envfix-nvml for the target and returns the overlay that puts it
// into the tree for the build of the program that carries it.
func (r *Release) child(t target) string {
	cc := r.compiler(t)
	program := filepath.Join(r.Scratch, t.name(), "envfix-nvml")
	buildChild(t, cc, program)
	return overlay(program, filepath.Join(r.Scratch, t.name(), "overlay.json"))
}

// buildChild builds the child with a C compiler; "" is the machine's own.
func buildChild(t target, cc, program string) {
	env := []string{"CGO_ENABLED=1", "CGO_CFLAGS=-O2 -g0 -Wno-deprecated-declarations", "CGO_LDFLAGS=-O2"}
	if cc != "" {
		env = append(env, `CC="`+cc+`"`) // in quotes: its folder's name may hold a space
	}
	t.build("./cmd/envfix-nvml", program, []string{"-gcflags=all=-l", "-ldflags", "-s -w -buildid= -extldflags=-Wl,-z,lazy"}, env...)
}

// overlay writes the file that tells go build where the child is.
func overlay(program, name string) string {
	place := must.Get(filepath.Abs("internal/nvmlchild/carried/envfix-nvml"))
	b := must.Get(json.Marshal(map[string]map[string]string{"Replace": {place: program}}))
	must.Do(os.WriteFile(name, b, 0o644))
	return name
}

// wrapper is the C compiler that go build calls. go-nvml leaves NVML's symbols to
// the loading of the library by a flag that zig's linker does not have. They are
// found instead in a library that is there for the linker alone: it bears the name
// of a library that every glibc brings, so that the program asks for nothing more.
const wrapper = `#!/usr/bin/env bash
args=()
for a; do
	case $a in -Wl,--unresolved-symbols=*) ;; *) args+=("$a") ;; esac
done
case " $* " in *" -rdynamic "*) args+=(%q -Wl,-s) ;; esac
exec %q -m ziglang cc -target %s-linux-gnu.2.17 "${args[@]}"
`

// compiler prepares the C compiler for a target and returns its path.
func (r *Release) compiler(t target) string {
	python := r.python(ziglang)
	symbols := nvmlSymbols()
	base := filepath.Join(r.Scratch, t.name())
	source, library, cc := filepath.Join(base, "nvml.c"), filepath.Join(base, "nvml.so"), filepath.Join(base, "cc")
	var text strings.Builder
	for _, s := range symbols {
		fmt.Fprintf(&text, "void %s(void) {}\n", s)
	}
	must.Do(os.MkdirAll(base, 0o755))
	must.Do(os.WriteFile(source, []byte(text.String()), 0o644))
	output(python, "-m", "ziglang", "cc", "-target", t.machine()+"-linux-gnu.2.17", "-shared", "-fPIC", "-w", "-Wl,-soname,libm.so.6", "-o", library, source)
	must.Do(os.WriteFile(cc, fmt.Appendf(nil, wrapper, library, python, t.machine()), 0o755))
	return cc
}

// nvmlSymbols are the functions of NVML that go-nvml's header declares.
func nvmlSymbols() []string {
	dir := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml")
	header := must.Get(os.ReadFile(filepath.Join(dir, "pkg", "nvml", "nvml.h")))
	declared := regexp.MustCompile(`\b(nvml[A-Z]\w*)\s*\(`).FindAllSubmatch(header, -1)
	out := text.Each(declared, func(m [][]byte) string { return string(m[1]) })
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 100 {
		must.Do(fmt.Errorf("go-nvml's header declares only %d functions", len(out)))
	}
	return out
}
