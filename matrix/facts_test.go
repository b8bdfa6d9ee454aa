package matrix

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
)

// facts is where the collected facts lie beside a checkout.
const facts = "../../shared/facts/"

// factRows reads a CSV file of the facts, or skips the test.
func factRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(facts + name)
	if err != nil {
		t.Skipf("the collected facts are not beside this checkout: %v", err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, l := range lines[1:] {
		r := map[string]string{}
		for i, c := range lines[0] {
			r[c] = l[i]
		}
		rows = append(rows, r)
	}
	return rows
}

func embedded(t testing.TB) *Matrix {
	t.Helper()
	m, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// factCode turns "75 90a" into "7.5 9.0a".
func factCode(s string) string {
	var out []string
	for _, w := range strings.Fields(s) {
		d := strings.TrimRight(w, "af")
		out = append(out, d[:len(d)-1]+"."+d[len(d)-1:]+w[len(d):])
	}
	return strings.Join(out, " ")
}

func codesText(list []Code) string {
	var out []string
	for _, c := range list {
		out = append(out, codeText(c))
	}
	return strings.Join(out, " ")
}

// TestWholeStack holds the rules for libraries against the table that was made
// from the same bytes by other means.
func TestWholeStack(t *testing.T) {
	m := embedded(t)
	rows := factRows(t, "nvidia/whole_stack.csv")
	for _, r := range rows {
		rel, ok := m.Release(r["torch"])
		if !ok {
			t.Fatalf("no torch %s", r["torch"])
		}
		b, ok := rel.Build(r["variant"], "linux", r["arch"])
		if !ok {
			t.Fatalf("no %s %s", r["torch"], r["variant"])
		}
		name, _, _ := strings.Cut(r["gpu"], " ")
		for _, cc := range strings.Split(name, "/") {
			got := stackRow(m, b, machine.MustSM(cc))
			want := []string{r["torch_code"], r["core_stack"], sorted(r["core_only_ptx"]), pinned(m, b, r["optional_missing"])}
			got[3] = scannedThen(m, b, got[3])
			if want[0] == "no" {
				want[2], got[2] = "", "" // the table lists libraries that the answer does not depend on
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s %s on %s: %q, want %q", r["torch"], r["variant"], r["arch"], cc, got, want)
			}
			if !strings.HasPrefix(r["torch_compile"], "no: ptxas") {
				continue
			}
			p := slices.IndexFunc(m.Ptxas, func(p Ptxas) bool { return p.Triton.String() == r["triton"] && p.Arch == b.Arch })
			if p >= 0 && slices.Contains(m.Ptxas[p].Served, machine.MustSM(cc)) {
				t.Errorf("triton %s serves %s; the table says %s", r["triton"], cc, r["torch_compile"])
			}
		}
	}
	t.Logf("%d rows", len(rows))
}

// scannedThen drops the libraries that were read after the table was made: those
// of stack.yaml.
func scannedThen(m *Matrix, b *Build, list string) string {
	var out []string
	for _, name := range strings.Fields(list) {
		later := slices.ContainsFunc(m.Stack(b), func(p Pinned) bool {
			return p.Package == name && p.Library != nil && strings.HasPrefix(p.Library.Source, "data/"+StackFile+":")
		})
		if !later {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// pinned keeps the libraries that a build is known to pin: the table also has
// those of its sister builds.
func pinned(m *Matrix, b *Build, list string) string {
	var out []string
	for _, p := range m.Stack(b) {
		if slices.Contains(strings.Fields(list), p.Package) {
			out = append(out, p.Package)
		}
	}
	return sorted(strings.Join(out, " "))
}

func sorted(s string) string {
	w := strings.Fields(s)
	slices.Sort(w)
	return strings.Join(w, " ")
}

// stackRow is a row of the table: torch's own code, the core stack, the libraries
// that have only PTX, the further ones that have nothing.
func stackRow(m *Matrix, b *Build, sm machine.SM) []string {
	native, ptx := m.Covers(b, sm)
	code := "no"
	if native {
		code = "cubin"
	} else if ptx {
		code = "ptx"
	}
	core := "yes"
	var jit, missing []string
	for _, p := range m.Stack(b) {
		if p.Library == nil {
			continue
		}
		n, j := m.LibraryCovers(p.Library, sm)
		switch {
		case n:
		case p.Core && j:
			jit = append(jit, p.Package)
			core = "ptx"
		case p.Core:
			core = "no"
		case !j:
			missing = append(missing, p.Package)
		}
	}
	if code == "no" {
		core = "no"
	}
	slices.Sort(jit)
	slices.Sort(missing)
	return []string{code, core, strings.Join(jit, " "), strings.Join(missing, " ")}
}

// TestCoverage prints how many of the collected rows the data carries, and fails
// where one is lost that README.md does not name.
func TestCoverage(t *testing.T) {
	m, devices := embedded(t), deviceTable(t)
	for _, c := range []struct {
		file string
		has  func(map[string]string) bool
		lost int // named in data/README.md
	}{
		{"torch/variants.csv", m.hasVariant, 0},
		{"torch/companions.csv", m.hasCompanions, 0},
		{"torch/driver_minimums.csv", func(r map[string]string) bool {
			f, ok := m.Floor(r["variant"])
			return ok && f.Linux.String() == r["min_driver_linux"] && f.Windows.String() == r["min_driver_windows"]
		}, 0},
		{"torch/cuda_components.csv", m.hasComponents, 0},
		{"torch/rocm_gfx.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.ROCm, func(x ROCmTarget) bool {
				return x.Label == r["variant"] && x.GFX == r["gfx"] && x.Names == r["gpu_names"] && x.Torch.String() == strings.TrimPrefix(r["torch"], "all")
			})
		}, 0},
		{"torch/torchvision_cubins.csv", m.hasTorchvision, 0},
		{"torch/extensions_proven.csv", m.hasExtension, 0},
		{"torch/wheels_verified.csv", m.hasWheel, 0},
		{"nvidia/stack_cubins.csv", m.hasLibrary, 0},
		{"nvidia/triton_ptxas.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.Ptxas, func(p Ptxas) bool {
				return p.Triton.String() == r["triton"] && p.Arch == r["platform"] && strings.Contains(p.Version, r["ptxas_version"])
			})
		}, 0},
		{"nvidia/driver_branches.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.Branches, func(b Branch) bool {
				return fmt.Sprint(b.Number) == r["branch"] && b.CUDA.String() == r["cuda_reported"] && b.Latest.String() == r["linux_latest"]
			})
		}, 0},
		{"nvidia/cuda_driver.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.Toolkits, func(x Toolkit) bool {
				return x.Version.String() == strings.TrimSuffix(r["toolkit_version"], ".x") && x.Name == r["label"] && x.LinuxTable.String() == strings.TrimSuffix(r["linux_table_min_driver"], "?")
			})
		}, 0},
		{"nvidia/forward_compat.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.ForwardCompat, func(x ForwardCompat) bool {
				return x.Package == r["compat_package"] && fmt.Sprint(x.From) == r["built_from_driver_branch"] && strings.Trim(strings.ReplaceAll(fmt.Sprint(x.Base), " ", "|"), "[]") == r["base_driver_branches_supported"]
			})
		}, 0},
		{"nvidia/cc_support.csv", func(r map[string]string) bool {
			_, ok := m.Arch(machine.MustSM(r["cc"]))
			return ok
		}, 0},
		{"nvidia/cudnn.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.CuDNN, func(x CuDNN) bool { return x.Versions == r["cudnn"] && x.GPUs == r["compute_capabilities"] })
		}, 0},
		{"nvidia/cudnn_image_pairs.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.Images, func(x Image) bool { return x.CUDA == r["cuda_image"] })
		}, 0},
		{"nvidia/pci_ids.csv", devices.hasID, 0},
		{"nvidia/gpus.csv", devices.hasName, 1},
		{"intel_gpus.csv", func(r map[string]string) bool {
			d, ok := devices.LookupPCI("8086:"+strings.TrimPrefix(r["pci_device_id"], "0x"), "")
			return ok && d.XPU == (r["xpu_supported"] == "yes") && d.Chip == r["generation"]
		}, 0},
		{"vendor_indexes.csv", func(r map[string]string) bool {
			return slices.ContainsFunc(m.VendorIndexes, func(v VendorIndex) bool { return v.URL == r["index_url"] && string(v.Proof) == r["proof"] })
		}, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			rows := factRows(t, c.file)
			var missing []string
			for _, r := range rows {
				if !c.has(r) {
					missing = append(missing, fmt.Sprint(r))
				}
			}
			t.Logf("%-32s %4d of %4d rows", c.file, len(rows)-len(missing), len(rows))
			if len(missing) != c.lost {
				t.Errorf("%d rows are not in the data, want %d:\n%s", len(missing), c.lost, strings.Join(missing[:min(5, len(missing))], "\n"))
			}
		})
	}
}

func (m *Matrix) hasVariant(r map[string]string) bool {
	rel, ok := m.Release(r["torch"])
	if !ok {
		return false
	}
	label := r["variant"]
	if r["os"] == "macos" && r["arch"] == "arm64" {
		label = "mps"
	}
	b, ok := rel.Build(label, r["os"], r["arch"])
	return ok && b.CUDA.String() == r["cuda_toolkit"] && b.CuDNN.String() == r["cudnn"] && b.NCCL.String() == r["nccl"] &&
		codesText(b.Native) == factCode(r["sm_list"]) && codesText(b.PTX) == factCode(r["ptx"]) && b.Index == r["index_url"] &&
		b.Default == (r["is_pypi_default"] == "yes") && b.PythonMin.String() == r["python_min"] && b.PythonMax.String() == r["python_max"] &&
		b.Glibc.String() == r["glibc_floor"] && string(b.Proof) == r["proof"] && b.Notes == r["notes"] &&
		(b.Status == NotSeen) == (r["channel_status"] == "not seen") && (b.Status == NotAdvertised) == strings.Contains(r["channel_status"], "not advertised")
}

func (m *Matrix) hasCompanions(r map[string]string) bool {
	rel, ok := m.Release(r["torch"])
	if !ok {
		return false
	}
	for _, k := range []string{"torchvision", "torchaudio", "torchtext", "torchcodec", "triton"} {
		want := strings.TrimPrefix(r[k], "~=")
		if strings.HasPrefix(want, "(") {
			want = ""
		}
		if rel.Companions[k].String() != want {
			return false
		}
	}
	return true
}

func (m *Matrix) hasComponents(r map[string]string) bool {
	return slices.ContainsFunc(m.Components, func(c Components) bool {
		for _, k := range []string{"cublas", "cufft", "curand", "cusolver", "cusparse"} {
			if c.Pins[k] != r[k] {
				return false
			}
		}
		return c.CUDA.String() == r["cuda_toolkit"]
	})
}

func (m *Matrix) hasTorchvision(r map[string]string) bool {
	_, label, cuda := strings.Cut(r["built_as"], "+cu")
	if !cuda {
		return r["cubins"] == "" // a CPU wheel: nothing to carry
	}
	var major int
	fmt.Sscan(label[:len(label)-1], &major)
	arch := "x86_64"
	if strings.Contains(r["file"], "aarch64") {
		arch = "aarch64"
	}
	l, ok := m.Library("torchvision", r["version"], major, arch)
	return ok && codesText(l.Native) == factCode(r["cubins"]) && codesText(l.PTX) == factCode(r["ptx"])
}

func (m *Matrix) hasExtension(r map[string]string) bool {
	platform := strings.NewReplacer("macos aarch64", "macos arm64", "windows aarch64", "windows arm64").Replace(r["wheel platform"])
	os, arch, _ := strings.Cut(platform, " ")
	if os == "any" || os == "sdist" {
		os = ""
	}
	return slices.ContainsFunc(m.Extensions, func(e Extension) bool {
		return e.Package == r["package"] && e.Version.String() == r["version"] && e.OS == os && e.Arch == arch &&
			e.Sdist == (platform == "sdist") && codesText(e.Native) == factCode(r["sm_list"]) && codesText(e.PTX) == factCode(r["ptx_list"]) &&
			(e.Proof == ByWheel) == (r["proof"] == "bytes")
	})
}

func (m *Matrix) hasWheel(r map[string]string) bool {
	rel, ok := m.Release(r["release"])
	if !ok {
		return false
	}
	os, arch, _ := strings.Cut(strings.Replace(r["platform"], "amd64", "x86_64", 1), "_")
	label := r["label"]
	if os == "macos" && arch == "arm64" {
		label = "mps"
	}
	b, ok := rel.Build(label, os, arch)
	return ok && b.Default && (r["cudnn"] == "" || b.CuDNN.String() == r["cudnn"]) && codesText(b.Native) == factCode(r["sm_list_from_bytes"]) &&
		b.Pins["nvshmem"] == r["nvshmem"] && b.Pins["cusparselt"] == r["cusparselt"]
}

// hasLibrary: every .so that speaks for its package is in the row of its wheel.
func (m *Matrix) hasLibrary(r map[string]string) bool {
	pkg, suffix, ok := strings.Cut(strings.TrimPrefix(r["package"], "nvidia-"), "-cu")
	major := 13
	if ok {
		fmt.Sscan(suffix, &major)
	}
	arch := "x86_64"
	if strings.Contains(r["wheel_platform"], "aarch64") {
		arch = "aarch64"
	}
	_, ok = m.Library(pkg, strings.Split(r["version"], ".post")[0], major, arch)
	return ok
}

func (t *DeviceTable) hasID(r map[string]string) bool {
	hex := func(k string) string { return strings.ToLower(strings.TrimPrefix(r[k], "0x")) }
	sub := ""
	if r["subvendor_id"] != "" {
		sub = hex("subvendor_id") + ":" + hex("subdevice_id")
	}
	d, ok := t.LookupPCI("10de:"+hex("device_id"), sub)
	branch, _, _ := strings.Cut(r["last_driver_branch"], ".")
	if branch == "" {
		branch = "0"
	}
	return ok && d.Subsystem == sub && strings.HasSuffix(strings.TrimSuffix(r["name"], "]"), d.Name) && d.SM.String() == r["cc"] && fmt.Sprint(d.LastBranch) == branch
}

func (t *DeviceTable) hasName(r map[string]string) bool {
	return slices.ContainsFunc(t.LookupName(r["name"]), func(d Device) bool { return d.SM.String() == r["cc"] })
}
