package read

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// answer carries out a row of data/readers_*.yaml, whose head says what the words mean.
func (r *Reader) answer(x *know.Reader, m []string, s Evidence) {
	if x.Denies(r.whole) || slices.ContainsFunc(x.Empty, func(fact string) bool { return !r.c.fact(fact).IsZero() }) {
		return
	}
	caught := strings.Join(m[1:], "")
	for _, does := range x.Does {
		how, of, _ := strings.Cut(does, " ")
		switch {
		case how == "waits":
			r.wait = of
		case how == "likely":
			r.likelyOS(of, s)
		case doers[how] != nil:
			doers[how](r, m, s)
		case len(m) > 1 && caught == "":
		case how == "sets":
			set(r.c.fact(of), cmp.Or(caught, m[0]))
		case how == "lowers":
			set(r.c.fact(of), strings.ToLower(caught))
		default: // says, speaks
			mark(r.c.fact(of).Addr().Interface().(*Evidence), s)
			r.told = r.told || how == "says"
		}
	}
}

// fact is a field of the case.
func (c *Case) fact(path string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	return v
}

const most = 64 // of a list

func set(f reflect.Value, v string) {
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int:
		f.SetInt(int64(Atoi(v)))
	case reflect.Slice:
		if f.Len() < most {
			f.Set(reflect.Append(f, reflect.ValueOf(v)))
		}
	case reflect.Struct:
		d, _ := version.ParseDotted(v) // the expression catches no other
		f.Set(reflect.ValueOf(d))
	default:
		f.SetString(v)
	}
}

// takes is what reads what the brackets of the expression hold, of which one matches.
func takes(take func(*Reader, string, Evidence)) func(*Reader, []string, Evidence) {
	return func(r *Reader, m []string, s Evidence) { take(r, strings.Join(m[1:], ""), s) }
}

// doers are what rows do beyond noting a line.
var doers = map[string]func(r *Reader, m []string, s Evidence){
	"torch":        takes(func(r *Reader, v string, s Evidence) { r.torch(v, ByTorch, s) }),
	"torch-prose":  takes(func(r *Reader, v string, s Evidence) { r.torch(v, ByProse, s) }),
	"torch-wheel":  takes(func(r *Reader, v string, s Evidence) { r.torch(strings.Replace(v, "%2B", "+", 1), ByLabel, s) }),
	"torch-listed": takes(func(r *Reader, v string, s Evidence) { r.torch(strings.TrimRight(v, "."), ByList, s) }),
	"torch-label":  func(r *Reader, m []string, s Evidence) { r.torch(m[1]+"+"+m[2], ByLabel, s) },
	"torch-image":  func(r *Reader, m []string, s Evidence) { r.torch(m[1]+"+cu"+m[2]+m[3], ByProse, s) },
	"torch-path": func(r *Reader, m []string, s Evidence) {
		r.c.Torch.Path = m[1]
		r.torch(m[2], ByTorch, s)
	},
	"torch-and-gpu": func(r *Reader, m []string, s Evidence) {
		r.torch(m[1], ByTorch, s)
		r.available(m[2], s)
	},
	"torch-hip":   takes(func(r *Reader, v string, _ Evidence) { r.c.Torch.HIP, r.c.Torch.NoCUDA = v, false }),
	"package-hip": func(r *Reader, m []string, _ Evidence) { r.c.Torch.HIP = m[1] + "." + m[2] },
	"torch-cuda":  takes((*Reader).torchCUDA),
	"prose":       func(r *Reader, m []string, s Evidence) { r.prose(m[1], m[2], s) },
	"arches":      takes((*Reader).arches),
	"range": func(r *Reader, m []string, s Evidence) {
		least, err := machine.ParseSM(m[1])
		most, err2 := machine.ParseSM(m[2])
		if err == nil && err2 == nil {
			r.c.Torch.Range, r.c.Torch.ArchesAt = []machine.SM{least, most}, s
		}
	},
	"available":   takes((*Reader).available),
	"unavailable": func(r *Reader, _ []string, s Evidence) { r.available("False", s) },
	"every-available": func(r *Reader, _ []string, s Evidence) {
		for _, m := range r.k.Reads("every-available").FindAllStringSubmatch(r.whole, -1) {
			if m[1] == "" {
				r.available(m[2], s)
			}
		}
	},
	"memory":         func(r *Reader, _ []string, s Evidence) { r.memory(s) },
	"waits-printed":  func(r *Reader, m []string, _ Evidence) { r.wait = printed(m[0]) },
	"waits-variable": takes(func(r *Reader, name string, _ Evidence) { r.wait = strings.ToUpper(name) }),
	"waits-available": func(r *Reader, _ []string, s Evidence) {
		if r.wait == "" && strings.HasSuffix(strings.TrimRight(s.Text, `"'`), ")") {
			r.wait = "is_available"
		}
	},
	"variable": func(r *Reader, m []string, s Evidence) { r.variable(strings.ToUpper(m[1]), m[2], s) },

	"driver":   takes((*Reader).driver),
	"loaded":   takes((*Reader).loaded),
	"packaged": takes((*Reader).packaged),
	"smi-cuda": takes((*Reader).smiCUDA),
	"asked":    func(r *Reader, _ []string, _ Evidence) { r.asked = r.line },
	"answered": func(r *Reader, m []string, s Evidence) {
		if r.asked > 0 && r.line-r.asked <= inAnswer {
			r.driver(m[1], s)
		}
	},
	"nix-store": func(r *Reader, m []string, s Evidence) {
		if strings.HasPrefix(m[2], "-bin") {
			r.driver(m[1], s)
		} else {
			r.loaded(m[1], s)
		}
	},
	"libcuda": func(r *Reader, m []string, s Evidence) {
		if !strings.Contains(m[1], "compat") {
			r.packaged(m[2], s)
		}
	},
	"kernel-built": func(r *Reader, m []string, s Evidence) {
		if k := &r.c.Place.Kernels; len(k.Built) < 16 {
			k.Built, k.BuiltAt = append(k.Built, m[1]), s
		}
	},
	"uname": func(r *Reader, m []string, s Evidence) {
		if r.wait = "uname"; m[1] != "" {
			r.variable(r.wait, m[1], s)
			r.wait = ""
		}
	},

	"gpu":     takes((*Reader).addGPU),
	"gpu-row": func(r *Reader, m []string, s Evidence) { r.addGPU(m[2], s) },
	"gpu-count": func(r *Reader, m []string, _ Evidence) {
		words := map[string]int{"one": 1, "single": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
		said := strings.ToLower(strings.Join(m[1:], ""))
		if n := max(words[said], Atoi(said)); n > 0 && r.c.Says.GPUs == 0 {
			r.c.Says.GPUs = n
		}
	},
	"memory-row": func(r *Reader, m []string, s Evidence) {
		n := len(r.c.Machine.GPUs)
		if n == 0 {
			return
		}
		r.c.Machine.GPUs[n-1].MemoryBytes = mebibytes(m[2])
		r.c.Used = append(r.c.Used, Usage{GPU: n - 1, Bytes: mebibytes(m[1]), Total: mebibytes(m[2]), At: s})
	},
	"memory-used":   func(r *Reader, m []string, s Evidence) { r.used(m[1], m[2], s) },
	"pci":           takes((*Reader).pci),
	"pci-id":        takes(func(r *Reader, id string, s Evidence) { r.pciID(strings.ToLower(id), s) }),
	"named":         takes((*Reader).named),
	"names":         func(r *Reader, m []string, s Evidence) { r.names(m[0], s) },
	"only-gpu":      takes((*Reader).onlyGPU),
	"only-vendor":   takes(func(r *Reader, vendor string, s Evidence) { r.onlyGPU(vendor+" GPU", s) }),
	"gfx":           takes(func(r *Reader, gfx string, s Evidence) { r.gfx(strings.ToLower(gfx), s) }),
	"capability":    func(r *Reader, m []string, s Evidence) { r.capability("", strings.Join(m[1:], ""), s) },
	"capability-of": func(r *Reader, m []string, s Evidence) { r.capability(m[1]+m[3], m[2]+m[4], s) },
	"kernel-driver": func(r *Reader, m []string, _ Evidence) {
		if n := len(r.c.Machine.GPUs); n > 0 {
			g := &r.c.Machine.GPUs[n-1]
			g.KernelDriver = cmp.Or(g.KernelDriver, m[1])
		}
	},
	"ecc": func(r *Reader, m []string, _ Evidence) {
		if n := len(r.c.Machine.GPUs); n > 0 {
			r.c.Machine.GPUs[n-1].Use = &machine.GPUUse{ECC: &machine.ECC{Enabled: true, Volatile: new(int64(Atoi(m[1])))}}
		}
	},

	"package-row":    (*Reader).packageRow,
	"package":        func(r *Reader, m []string, s Evidence) { byPip(r, m[1], m[2], s) },
	"installed":      takes(installed),
	"uninstalled":    takes(func(r *Reader, v string, s Evidence) { r.uninstalled, r.uninstalledAt = v, s }),
	"found-existing": foundExisting,
	"replaced":       (*Reader).replaced,
	"taken-away":     (*Reader).takenAway,
	"another-removed": takes(func(r *Reader, v string, s Evidence) { // than Python imported before: there are two
		if t := r.c.Torch; t.Rank == ByTorch && Public(v) != t.Version {
			r.say(&r.c.Says.TwoVersions, s)
		}
	}),
	"changed":        (*Reader).changed,
	"library":        func(r *Reader, m []string, s Evidence) { r.c.library(m[1], strings.TrimRight(m[2], ".,"), s) },
	"library-loaded": func(r *Reader, m []string, s Evidence) { r.c.library(m[2], m[1], s) },
	"library-first": func(r *Reader, m []string, s Evidence) {
		if !slices.ContainsFunc(r.c.Libraries, func(l Library) bool { return l.Name == m[1] }) {
			r.c.library(m[1], m[2], s)
		}
	},
	"toolkit": takes((*Reader).toolkit),
	"offered": takes(func(r *Reader, list string, _ Evidence) {
		if len(r.c.Offered) == 0 {
			r.c.Offered = strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
		}
	}),
	"extension": takes(func(r *Reader, name string, _ Evidence) {
		if name = strings.ReplaceAll(strings.ToLower(name), "_", "-"); !slices.Contains(r.c.Says.Extensions, name) {
			r.c.Says.Extensions = append(r.c.Says.Extensions, name)
		}
	}),
	"module": takes(func(r *Reader, name string, s Evidence) {
		if name = strings.ToLower(name); name != "torch" && name != "nvidia" {
			r.c.Jobs.Module = s
		}
	}),

	"python":       takes((*Reader).python),
	"interpreter":  takes((*Reader).interpreter),
	"environment":  takes(func(r *Reader, dir string, _ Evidence) { environment(&r.c.Place, dir) }),
	"two-versions": twoVersions,
	"showing":      takes(func(r *Reader, name string, _ Evidence) { r.showing = normal(name) }),
	"shown-version": takes(func(r *Reader, v string, s Evidence) {
		if r.showing == "torch" {
			byPip(r, r.showing, v, s)
		}
	}),
	"shown-location": takes(func(r *Reader, dir string, s Evidence) {
		if r.showing == "torch" {
			r.c.TorchLocation = strings.TrimSpace(dir)
			r.say(&r.c.From.TorchLocation, s)
		}
		r.showing = ""
	}),

	"system":       takes((*Reader).system),
	"on-windows":   func(r *Reader, _ []string, s Evidence) { r.system("Windows", s) },
	"platform":     takes((*Reader).platform),
	"platform-tag": func(r *Reader, m []string, s Evidence) { r.platformTag(m[1], m[2], s) },
	"32-bit":       func(r *Reader, _ []string, s Evidence) { r.thirtyTwo(s) },
	"intel-mac": func(r *Reader, _ []string, s Evidence) {
		if p := &r.c.Machine.Platform; p.Arch == "" && (p.OS == "" || p.OS == "macos") {
			p.OS, p.Arch = "macos", "x86_64"
			r.say(&r.c.From.OS, s)
			mark(&r.c.From.Arch, s)
		}
	},
	"windows-driver": func(r *Reader, m []string, s Evidence) {
		if m[1] == m[2]+m[3] && Atoi(m[2])%5 != 0 {
			r.likelyOS("windows", s)
		}
	},
	"glibc": takes(func(r *Reader, v string, s Evidence) {
		if d, err := version.ParseDotted(v); err == nil && r.c.Machine.Platform.Libc == nil {
			r.c.Machine.Platform.Libc = &machine.Libc{Kind: "glibc", Version: d}
			r.say(&r.c.From.Libc, s)
		}
	}),
	"l4t": func(r *Reader, m []string, s Evidence) {
		r.c.Machine.Platform.L4T = m[1] + m[2] + map[string]string{"4": "32", "5": "35", "6": "36", "7": "38"}[m[3]]
		r.say(&r.c.Place.L4TAt, s)
	},
	"starter": func(r *Reader, m []string, _ Evidence) {
		for i, name := range []string{"podman", "kubernetes", "pyxis"} {
			if m[i+1] != "" {
				r.c.Place.Starter = name
			}
		}
	},

	"news":   func(r *Reader, _ []string, _ Evidence) { r.c.Subject.News = r.c.Subject.News || r.line <= 3 },
	"change": func(r *Reader, _ []string, _ Evidence) { r.c.Subject.Changes++ },
}
