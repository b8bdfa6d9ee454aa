package platform

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/loader"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/version"
)

var (
	glibcName   = lazy.Regexp(`libc-(2\.\d+)(?:\.\d+)?\.so$`)
	glibcStore  = lazy.Regexp(`glibc-(2\.\d+)`)
	muslVersion = lazy.Regexp(`\x00(1\.\d\.\d{1,2})\x00`)
	apkMusl     = lazy.Regexp(`(?m)^P:musl\nV:(1\.\d\.\d+)`)
)

// libc finds kind and version of the C library without running anything: the
// interpreter named by the shell's ELF header tells the kind, and the library
// beside it the version. nil: not found.
func libc(h *sysroot.Host) *machine.Libc {
	interp := Interpreter(h, "/bin/sh", "/usr/bin/env", "/run/current-system/sw/bin/sh")
	if strings.Contains(interp, "ld-musl") {
		return musl(h, interp)
	}
	dirs := []string{}
	if interp != "" { // the path as it is named, and what it is a link to (NixOS)
		dirs = append(dirs, path.Dir(h.Resolved(interp)), path.Dir(interp))
	}
	for _, triple := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu"} {
		dirs = append(dirs, "/lib/"+triple, "/usr/lib/"+triple)
	}
	dirs = append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
	for _, dir := range dirs {
		if v := glibcIn(h, dir); !v.IsZero() {
			return &machine.Libc{Kind: "glibc", Version: v}
		}
	}
	for _, dir := range []string{"/lib", "/usr/lib"} { // a shell that is linked statically
		for _, name := range h.Names(dir) {
			if strings.HasPrefix(name, "ld-musl-") {
				return musl(h, dir+"/"+name)
			}
		}
	}
	if interp != "" {
		return &machine.Libc{Kind: "glibc"}
	}
	return nil
}

// glibcIn reads the version of the libc.so.6 in a directory: up to glibc 2.33 it
// is a link to libc-2.33.so, since then a file that holds its banner.
func glibcIn(h *sysroot.Host, dir string) version.Dotted {
	file := dir + "/libc.so.6"
	if !h.Exists(file) {
		return version.Dotted{}
	}
	real := h.Resolved(file)
	if named := cmp.Or(glibcName.Group(real), glibcStore.Group(real)); named != "" {
		return version.ReadDotted(named)
	}
	return version.ReadDotted(bannerVersion(sysroot.Search(h.Real(file), []byte(glibcBanner))))
}

// glibcBanner begins the line that libc.so.6 prints when it is run: "GNU C Library
// (Debian GLIBC 2.36-9) stable release version 2.36."
const glibcBanner = "GNU C Library "

// bannerVersion is the release that the banner names; "" where it names none.
func bannerVersion(banner []byte) string {
	line, _, _ := bytes.Cut(banner, []byte("\n"))
	_, rest, _ := bytes.Cut(line, []byte("release version "))
	v := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789."))]
	return strings.TrimRight(string(v), ".")
}

// musl reads the version that musl's loader holds as a string of its own.
func musl(h *sysroot.Host, loader string) *machine.Libc {
	v := muslVersion.Group(string(h.Bytes(loader, sysroot.MaxFile)))
	if v == "" {
		v = apkMusl.Group(h.Text("/lib/apk/db/installed"))
	}
	return &machine.Libc{Kind: "musl", Version: version.ReadDotted(v)}
}

// Interpreter returns the ELF interpreter of the first program that names one.
func Interpreter(h *sysroot.Host, programs ...string) string {
	files := Loader(h)
	for _, p := range programs {
		if o := files.Read(p); o != nil && o.Interp != "" {
			return o.Interp
		}
	}
	return ""
}

// Loader is this machine as the dynamic loader sees it.
func Loader(h *sysroot.Host) *loader.Files {
	split := func(list, by string) []string {
		return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(by, r) })
	}
	return &loader.Files{
		Real: h.Real, Resolved: h.Resolved,
		Dir: h.Project, LibraryPath: loader.Entries(h.Env["LD_LIBRARY_PATH"], h.Project),
		Preload:     split(h.Env["LD_PRELOAD"], ": "),
		PreloadFile: split(string(h.Bytes(loader.ByPreloadFile, 1<<16)), ": \t\n"),
	}
}
