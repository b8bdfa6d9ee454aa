package main

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// libraries writes which GPUs each library of the stack has code for, one row
// per wheel, from the counts of cubins in each of its .so files.
func (f *factory) libraries() error {
	rows, err := f.table("nvidia/stack_cubins.csv")
	if err != nil {
		return err
	}
	out := newFile("Which GPUs the CUDA libraries have code for, read from the bytes of their wheels.",
		"A GPU counts as served by cubins where a library has at least 5 % of the usable cubins that",
		"its best-served GPU has (ltoir left out). cuDNN is judged by its ops, adv and cnn parts:",
		"engines_precompiled keeps cubins of GPUs that the rest has dropped.")
	out.head = []pair{{"proof", "wheel"}}
	wheels := map[string][]row{}
	var order []string
	for _, r := range rows {
		if !judged(r["package"], r["library"]) {
			continue
		}
		key := r["package"] + " " + strings.Split(r["version"], ".post")[0] + " " + arch(r["wheel_platform"])
		if wheels[key] == nil {
			order = append(order, key)
		}
		wheels[key] = append(wheels[key], r)
	}
	source := out.source("bytes", "fatbin entries counted in the wheels of the default index, 2026-11-21 (facts/nvidia/stack_cubins.csv)")
	libs := &libraryRows{out: out}
	for _, key := range order {
		parts := strings.Fields(key)
		name, major := packageOf(parts[0])
		native, ptx, err := merge(wheels[key])
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		libs.add(libraryArch(out, parts[2], source)+" "+libraryCode(out, native, ptx), name, major, parts[1])
	}
	if err := f.torchvision(libs); err != nil {
		return err
	}
	libs.write()
	if err := f.ptxas(out); err != nil {
		return err
	}
	f.files["libraries.yaml"] = out.bytes()
	return nil
}

func libraryArch(out *file, arch, source string) string {
	return out.set(arch, []pair{{"arch", arch}, {"source", source}})
}

// libraryCode names a list of code by its ends: 75-121.
func libraryCode(out *file, cubins, ptx string) string {
	c := strings.Fields(cubins)
	return out.set("sm"+c[0]+"-"+c[len(c)-1], []pair{{"cubins", dotCodes(cubins)}, {"ptx", dotCodes(ptx)}})
}

// libraryRows joins the versions of which the same is known.
type libraryRows struct {
	out      *file
	order    []string
	versions map[string]string
}

func (l *libraryRows) add(use, name, major, version string) {
	key := flow([]pair{{"use", use}, {"package", name}, {"cuda", raw + major}})
	if l.versions == nil {
		l.versions = map[string]string{}
	}
	if l.versions[key] == "" {
		l.order = append(l.order, key)
	}
	l.versions[key] = strings.TrimSpace(l.versions[key] + " " + version)
}

func (l *libraryRows) write() {
	l.out.line("libraries:")
	for _, key := range l.order {
		l.out.line("- %s, versions: %q}", strings.TrimSuffix(key, "}"), l.versions[key])
	}
}

// torchvision adds its own kernels: they differ from torch's.
func (f *factory) torchvision(libs *libraryRows) error {
	rows, err := f.table("torch/torchvision_cubins.csv")
	if err != nil {
		return err
	}
	source := libs.out.source("torchvision", "fatbin headers of torchvision/_C.so, default index, 2026-11-21 (facts/torch/torchvision_cubins.csv)")
	for _, r := range rows {
		_, label, _ := strings.Cut(r["built_as"], "+cu")
		if label == "" {
			continue // built without CUDA: no kernels
		}
		use := libraryArch(libs.out, arch(r["file"]), source) + " " + libraryCode(libs.out, r["cubins"], r["ptx"])
		libs.add(use, "torchvision", label[:len(label)-1], r["version"])
	}
	return nil
}

// ptxas adds which GPUs torch.compile can serve with the assemblers of a triton.
func (f *factory) ptxas(out *file) error {
	rows, err := f.table("nvidia/triton_ptxas.csv")
	if err != nil {
		return err
	}
	source := out.source("ptxas", "the assemblers in triton's wheels: run on x86_64, read by their strings on aarch64 (facts/nvidia/triton_ptxas.csv)")
	out.line("\n# Which GPUs the assemblers in triton's wheels know.")
	out.line("ptxas:")
	versions := map[string][]string{}
	for _, r := range rows {
		key := r["triton"] + r["platform"]
		versions[key] = append(versions[key], r["ptxas_version"])
	}
	seen := map[string]bool{}
	for _, r := range rows {
		key := r["triton"] + r["platform"]
		if seen[key] {
			continue // its second assembler: served speaks for both
		}
		seen[key] = true
		out.row(0, []pair{{"triton", r["triton"]}, {"arch", r["platform"]}, {"version", strings.Join(versions[key], " and ")},
			{"served", r["served"]}, {"not_served", r["not_served"]}, {"source", source}})
	}
	return nil
}

// judged says whether a .so speaks for its package. nvblas, cufftw and
// cusolverMg are not what torch calls.
func judged(pkg, lib string) bool {
	switch {
	case strings.HasPrefix(pkg, "nvidia-cudnn"):
		return regexp.MustCompile(`_(ops|adv|cnn)(_infer|_train)?\.so`).MatchString(lib)
	case strings.HasPrefix(pkg, "nvidia-nvshmem"):
		return strings.HasPrefix(lib, "libnvshmem_host.")
	}
	return !regexp.MustCompile(`nvblas|cufftw|cusolverMg`).MatchString(lib)
}

func arch(platform string) string {
	if strings.Contains(platform, "aarch64") {
		return "aarch64"
	}
	return "x86_64"
}

// packageOf splits nvidia-cudnn-cu12 into cudnn and 12. The packages without a
// suffix are those of CUDA 13.
func packageOf(name string) (pkg, major string) {
	pkg, major, ok := strings.Cut(strings.TrimPrefix(name, "nvidia-"), "-cu")
	if !ok {
		major = "13"
	}
	return pkg, major
}

// devices are the GPUs that the rule is tried on; Tegra's are not judged.
var devices = []string{"35", "37", "50", "52", "60", "61", "70", "75", "80", "86", "89", "90", "100", "103", "110", "120", "121"}

// A shared is one .so: how many cubins of which kind, and its PTX.
type shared struct {
	counts map[string]int
	ptx    []string
}

func parseShared(r row) shared {
	s := shared{counts: map[string]int{}, ptx: strings.Fields(r["ptx_list"])}
	for _, c := range strings.Fields(r["counts"]) {
		code, n, _ := strings.Cut(c, ":")
		if regexp.MustCompile(`^[0-9]+[af]?$`).MatchString(code) {
			s.counts[code], _ = strconv.Atoi(n)
		}
	}
	return s
}

// runs: NVIDIA's documented rule; the exceptions of PyTorch's list concern Tegra.
func runs(code, device string) bool {
	digits := strings.TrimRight(code, "af")
	if strings.HasSuffix(code, "a") {
		return digits == device
	}
	return digits[:len(digits)-1] == device[:len(device)-1] && digits <= device
}

func (s shared) usable(device string) (n int) {
	for code, c := range s.counts {
		if runs(code, device) {
			n += c
		}
	}
	return n
}

// best is the largest count of one architecture: were arch-specific cubins added
// to it, cuBLASLt 12.8.3 (477 of them for 10.0) would lose 5.0, which
// 12.8.4 keeps with the same 90 cubins.
func (s shared) best() (n int) {
	for _, c := range s.counts {
		n = max(n, c)
	}
	return n
}

func (s shared) native(device string) bool {
	n := s.usable(device)
	return n > 0 && n*20 >= s.best()
}

func (s shared) jit(device string) bool { return jit(s.ptx, device) }

func jit(ptx []string, device string) bool {
	for _, p := range ptx {
		digits := strings.TrimRight(p, "af")
		if p == digits && atoi(digits) <= atoi(device) || p != digits && runs(p, device) {
			return true
		}
	}
	return false
}

// codes are those whose own GPU is served.
func (s shared) codes() []string {
	var out []string
	for c := range s.counts {
		if s.native(strings.TrimRight(c, "af")) {
			out = append(out, c)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := atoi(strings.TrimRight(out[i], "af")), atoi(strings.TrimRight(out[j], "af"))
		return a < b || a == b && out[i] < out[j]
	})
	return out
}

// merge makes one list of the .so files of a wheel such that the rule applied to
// the list says what it says of all of them together.
func merge(rows []row) (native, ptx string, err error) {
	var libs []shared
	for _, r := range rows {
		s := parseShared(r)
		if strings.Contains(r["package"], "cusparselt") || strings.Contains(r["package"], "nvshmem") {
			s.ptx = nil // single stray kernels; NVSHMEM's PTX does not help (stack.md)
		}
		libs = append(libs, s)
	}
	all := func(device string) (nat, any bool) {
		nat, any = true, true
		for _, l := range libs {
			n := l.native(device)
			nat = nat && n
			any = any && (n || l.jit(device))
		}
		return nat, any
	}
	for _, a := range libs {
		for _, b := range libs {
			codes := a.codes()
			ok := true
			for _, d := range devices {
				nat, any := all(d)
				got := false
				for _, c := range codes {
					got = got || runs(c, d)
				}
				ok = ok && got == nat && (got || jit(b.ptx, d)) == any
			}
			if ok {
				return strings.Join(codes, " "), strings.Join(b.ptx, " "), nil
			}
		}
	}
	return "", "", fmt.Errorf("no one list says what %d libraries say", len(libs))
}
