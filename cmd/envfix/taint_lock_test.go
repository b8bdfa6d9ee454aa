package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"envfix/internal/lock"
)

func lockTaintee() taintee {
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	type files struct {
		Lock lock.Lock
		Pins lock.Packages
	}
	fresh := func() *files {
		index := "https://download.pytorch.org/whl/cu126"
		wheel := func(name, at string) []lock.Wheel {
			name += "-cp312-cp312-manylinux_2_28_x86_64.whl"
			return []lock.Wheel{{Name: name, URL: at + "/" + name, Size: 900_000, Hashes: lock.Hashes{SHA256: digest}}}
		}
		return &files{
			lock.Lock{Schema: lock.Schema, RequiresEnvfix: ">=0.1", Matrix: lock.Matrix{Version: "2026.11.2", SHA256: digest},
				Input: lock.Input{Requirements: []string{"numpy", "torch"}, Targets: []lock.Target{{Name: "v100", Facts: "driver=580 gpu=V100 os=linux python=3.12"}}},
				Profiles: []lock.Profile{{Name: "v100", Torch: "2.14.1+cu126", Build: "cu126", CUDA: "12.6", CuDNN: "9.10.2.21", Python: "3.12", Arches: []string{"sm_70"},
					Match:  lock.Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.28", GPU: "nvidia", SMs: []string{"7.0"}, Driver: ">=525.60.13"},
					Driver: lock.Driver{Policy: "check-only", Branch: "580"}, Pylock: lock.Pylock{File: "pylock.v100.toml"}, Size: lock.Size{Download: 1_800_000},
					Hosts: []string{"download.pytorch.org", "files.example"}, Verify: []string{"import torch"}, Indexes: []lock.Index{{Package: "torch", URL: index}}}}},
			lock.Packages{LockVersion: "1.0", RequiresPython: "==3.12.*", CreatedBy: "envfix",
				Environments: []string{"sys_platform == 'linux' and platform_machine == 'x86_64' and python_full_version >= '3.12' and python_full_version < '3.13'"},
				Packages: []lock.Package{{Name: "numpy", Version: "2.3.0", Wheels: wheel("numpy-2.3.0", "https://files.example")},
					{Name: "torch", Version: "2.14.1+cu126", Index: index, Wheels: wheel("torch-2.14.1+cu126", index)}}},
		}
	}
	out := taintee{"lock", tainted(fresh(), -1, ""), func(t testing.TB, dir string, field int, taint string) {
		f := fresh()
		tainted(f, field, taint)
		trim(reflect.ValueOf(f).Elem())
		pins, err := f.Pins.Encode()
		if err != nil {
			return // nobody can write that
		}
		for i := range f.Lock.Profiles { // the digests fit: whoever writes a lock can make them
			if f.Lock.Profiles[i].Pylock.SHA256 == "" {
				f.Lock.Profiles[i].Pylock.SHA256 = lock.Sum(pins)
			}
		}
		b, err := f.Lock.Encode()
		if err != nil {
			return
		}
		must0(t, os.WriteFile(filepath.Join(dir, "envfix.lock"), b, 0o600))
		must0(t, os.WriteFile(filepath.Join(dir, "pylock.v100.toml"), pins, 0o600))
		exports(t, dir, f.Lock.Profiles[0], &f.Pins)
	}, [][]string{{"lock", "show"}, {"lock", "show", "--json"}, {"lock", "--check"}, {"lock", "diff", "envfix.lock"}, {"plan", "-v", "--gpu", "V100", "--driver", "580.95.05", "--python", "3.12"}}}
	for _, form := range []string{"requirements", "conda", "uv", "dockerfile", "kubernetes", "ray", "sky", "dstack", "cloud-init", "devcontainer"} {
		out.commands = append(out.commands, []string{"lock", "export", "--format", form})
	}
	return out
}

// trim takes out again what [eachString] filled and what stayed empty.
func trim(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if trim(v.Elem()); v.Elem().IsZero() {
				v.SetZero()
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				trim(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			trim(v.Index(i))
		}
		if v.Len() == 1 && v.Index(0).IsZero() {
			v.SetZero()
		}
	}
}

// exports writes every form of a profile without what reads a lock before it.
func exports(t testing.TB, dir string, of lock.Profile, pins *lock.Packages) {
	for _, form := range lock.Forms() {
		out, err := of.Export(form, "requirements.v100.txt", pins)
		if err != nil {
			continue // refused
		}
		written := fmt.Sprint(out)
		inForm(t, form, written)
		must0(t, os.WriteFile(filepath.Join(dir, "out."+form), []byte(written), 0o600))
	}
}
