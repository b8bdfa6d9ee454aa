package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/maintain"
	"envfix/internal/say"
	"envfix/internal/xslices"

	"envfix/internal/ci/must"
)

// A target is a system that a binary is for.
type target struct {
	os, arch string // Go's words
}

func (t target) String() string { return t.os + "/" + t.arch }

// program is the binary's name inside packages.
func (t target) program() string {
	return say.Either(t.os == "windows", "envfix.exe", "envfix")
}

// machine is the architecture as the system itself calls it.
func (t target) machine() string {
	switch {
	case t.arch == "amd64":
		return "x86_64"
	case t.os == "linux":
		return "aarch64"
	}
	return "arm64"
}

// system is the system in the names of downloads.
func (t target) system() string {
	return say.Either(t.os == "darwin", "macos", t.os)
}

// name is what a download for the target is called, without its ending.
func (t target) name() string { return "envfix-" + t.system() + "-" + t.machine() }

var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"windows", "amd64"},
	{"darwin", "arm64"},
	{"darwin", "amd64"},
}

// chosen are the targets of a list; all where it is empty.
func chosen(list string) []target {
	out := xslices.Filter(targets, func(t target) bool { return list == "" || slices.Contains(strings.Split(list, ","), t.String()) })
	if len(out) == 0 || list != "" && len(out) != strings.Count(list, ",")+1 {
		must.Do(fmt.Errorf("-targets %s: there are %v", list, targets))
	}
	return out
}

// binary is where the target's program lies once it is built.
func (r *Release) binary(t target) string { return filepath.Join(r.Scratch, t.name(), t.program()) }

// tags of every build: a library's writer of man pages is left out. A release
// carries the data in its compiled form alone (compiledonly), and speaks HTTP/1.1, as
// every index and mirror does: HTTP/2 would weigh 125 KB in each download.
const tags = "urfave_cli_no_docs,compiledonly,nethttpomithttp2"

// binaries builds the program for every target: without cgo, so that one file
// starts on every Linux, whatever its C library. NVML wants glibc, and is loaded by
// the child that the Linux binaries carry.
func binaries(r *Release) {
	from := maintain.PipDefault(context.Background(), "python3")
	for _, t := range r.Targets {
		use, over := tags, ""
		if t.os == "linux" {
			file := r.child(t)
			use, over = use+",nvmlchild", file
		}
		stamp := fmt.Sprintf("-s -w -buildid= -X main.buildVersion=%s -X main.buildCommit=%s -X main.defaultIndex=%s", r.Version.python(), r.Commit, from)
		t.build("./cmd/envfix", r.binary(t), append([]string{"-tags", use, "-overlay", over, "-ldflags", stamp}, leanFlags()...), "CGO_ENABLED=0")
		must.Do(os.Chtimes(r.binary(t), r.Time, r.Time))
	}
}

// build has Go build a program of this repository for the target, the same bytes on every machine.
func (t target) build(program, to string, flags []string, env ...string) {
	build := command{
		argv: slices.Concat([]string{"go", "build", "-trimpath", "-buildvcs=false"}, flags, []string{"-o", to, program}),
		env:  append(env, "GOFLAGS=", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0"),
	}
	must.Get(build.output())
}
