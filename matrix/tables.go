package matrix

import (
	"strconv"
	"strings"

	"envfix/internal/text"
)

// readTables reads a data file that is not a release's: any of the tables below
// in any file, so that data can be split as its readers like.
func readTables(s *source, data []byte, m *Matrix) {
	o, ok := s.parse(data)
	if !ok {
		return
	}
	names, ok := o.head()
	if !ok {
		return
	}
	r := &rowReader{s: s, names: names, all: m.shared, used: map[string]bool{}}
	r.known = o.knownBy()
	t := o.sets()
	rows := func(key string, f func(object)) {
		o.list(key, func(row object) {
			row = t.row(row)
			f(row)
			row.done()
		})
	}
	readDrivers(r, rows, m)
	readStack(r, rows, m)
	readPackages(r, rows, m)
	readCommands(r, rows, m)
	readBeside(r, rows, m)
	t.done()
	r.done(o)
	o.done()
}

type rowsFunc func(key string, f func(object))

func readDrivers(r *rowReader, rows rowsFunc, m *Matrix) {
	rows("floors", func(o object) {
		m.Floors = append(m.Floors, Floor{
			Label: o.text("build"), CUDA: o.dotted("cuda"),
			Linux: o.dotted("linux"), Windows: o.dotted("windows"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("toolkits", func(o object) {
		m.Toolkits = append(m.Toolkits, Toolkit{
			Version: o.dotted("cuda"), Name: o.text("name"),
			LinuxTable: o.dotted("linux"), LinuxFamily: o.dotted("linux_family"), LinuxBundled: o.dotted("linux_bundled"),
			WindowsTable: o.dotted("windows"), WindowsFamily: o.dotted("windows_family"), WindowsBundled: o.dotted("windows_bundled"),
			Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("components", func(o object) {
		c := Components{CUDA: o.dotted("cuda"), Pins: map[string]string{}, Proof: r.proof(o), Source: r.place(o)}
		for _, k := range []string{"cublas", "cufft", "curand", "cusolver", "cusparse"} {
			if v := o.dotted(k); !v.IsZero() {
				c.Pins[k] = v.String()
			}
		}
		m.Components = append(m.Components, c)
	})
	rows("forward_compat", func(o object) {
		m.ForwardCompat = append(m.ForwardCompat, ForwardCompat{
			CUDA: o.dotted("cuda"), Package: o.text("package"), From: o.number("from"),
			Base: o.numbers("base"), Brands: o.words("brands"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("branches", func(o object) {
		m.Branches = append(m.Branches, Branch{
			Number: o.number("branch"), Kind: o.text("kind"),
			Latest: o.dotted("linux"), LatestWindows: o.dotted("windows"),
			First: o.text("first"), ActiveEnd: o.text("active_end"), EOL: o.text("eol"), CUDA: o.dotted("cuda"),
			OldestArch: o.text("oldest"), Modules: o.words("modules"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("arches", func(o object) {
		m.Arches = append(m.Arches, Arch{
			SM: o.sm("sm"), Name: o.text("name"), FirstDriver: o.dotted("first"), FirstWindows: o.dotted("first_windows"),
			LastBranch: o.number("last_branch"), Modules: o.words("modules"),
			FirstCUDA: o.text("first_cuda"), LastCUDA: o.text("last_cuda"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)})
	})
}

func readStack(r *rowReader, rows rowsFunc, m *Matrix) {
	rows("cubin_rules", func(o object) {
		m.CubinRules = append(m.CubinRules, CubinRule{
			Cubin: o.sm("cubin"), Device: o.sm("device"), Runs: o.yes("runs"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("brackets", func(o object) {
		m.Brackets = append(m.Brackets, Bracket{SM: o.sm("gpu"), Has: o.text("has"), Not: o.text("not"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("libraries", func(o object) {
		l := Library{
			Package: o.text("package"), Major: o.number("cuda"), Arch: o.one("arch", "x86_64", "aarch64"),
			Native: o.codes("cubins"), PTX: o.codes("ptx"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)}
		for _, l.Version = range o.dotteds("versions") {
			m.Libraries = append(m.Libraries, l)
		}
	})
	rows("ptxas", func(o object) {
		m.Ptxas = append(m.Ptxas, Ptxas{
			Triton: o.python("triton"), Arch: o.one("arch", "x86_64", "aarch64"), Version: o.text("version"),
			Served: o.sms("served"), NotServed: o.sms("not_served"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("cudnn", func(o object) {
		m.CuDNN = append(m.CuDNN, CuDNN{
			Versions: o.text("versions"), CUDAMajors: o.numbers("cuda_major"), CUDA: o.text("cuda"),
			Linux: o.text("linux"), Windows: o.text("windows"), GPUs: o.text("gpus"), Note: o.text("notes"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("images", func(o object) {
		m.Images = append(m.Images, Image{CUDA: o.text("cuda"), CuDNN: o.versions("cudnn"), Proof: r.proof(o), Source: r.place(o)})
	})
	names := map[string]string{}
	rows("gfx_names", func(o object) { names[o.text("gfx")] = o.text("names") })
	rows("rocm", func(o object) {
		t := ROCmTarget{
			Label:  o.text("build"),
			Torch:  o.specifier("torch"),
			Broken: o.text("broken"),
			Doubt:  o.text("doubt"),
			Proof:  r.proof(o),
			Source: r.place(o),
		}
		for _, t.GFX = range o.words("gfx") {
			t.Names = names[t.GFX]
			m.ROCm = append(m.ROCm, t)
		}
	})
}

func readPackages(r *rowReader, rows rowsFunc, m *Matrix) {
	rows("extensions", func(o object) { readExtensions(r, o, m) })
	rows("defects", func(o object) {
		m.Defects = append(m.Defects, Defect{
			Package: o.text("package"), Versions: o.specifier("versions"), Labels: o.words("builds"),
			OS: o.text(
				"os",
			), Arch: o.text("arch"), Torch: o.specifier("torch"), MinCuDNN: o.dotted("min_cudnn"), When: o.text("when"), SMs: o.sms("gpus"), Below: o.sm("below"), Pythons: o.versions("pythons"),
			Breaks: o.one("breaks", "all", "import", "install", "some", "fft", "linalg", "compile", "nccl", "conv", "sparse", "hash"),
			Effect: o.text("effect"), Remedy: o.text("remedy"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("conda", func(o object) {
		c := CondaBuild{
			Channel: o.text("channel"), OS: o.one("os", "linux", "windows", "macos"),
			Arch: o.one("arch", "x86_64", "aarch64", "arm64"), CUDA: o.dotted("cuda"),
			Native: o.codes("cubins"), PTX: o.codes("ptx"), Glibc: o.dotted("glibc"), Note: o.text("notes")}
		c.PythonMin, c.PythonMax = o.pythonRange()
		c.Proof, c.Source = r.proof(o), r.place(o)
		for _, c.Torch = range o.pythons("torch") {
			m.Conda = append(m.Conda, c)
		}
	})
	rows("sizes", func(o object) {
		m.Sizes = append(m.Sizes, Size{
			Torch: o.python(
				"torch",
			), Build: o.text("build"), OS: o.one("os", "linux", "windows", "macos"), Arch: o.one("arch", "x86_64", "aarch64", "arm64"),
			DownloadMB: o.number("download_mb"), DiskMB: o.number("disk_mb"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("distributions", func(o object) {
		m.Distributions = append(m.Distributions, Distribution{
			IDs: o.words("ids"), Versions: o.words("versions"), Manager: o.one("manager", "apt-get", "dnf", "zypper"), Python: o.text("python"),
			Program: o.text("program"), Packages: o.words("packages"), Proof: r.proof(o), Source: r.place(o)})
	})
	rows("vendor_indexes", func(o object) {
		m.VendorIndexes = append(m.VendorIndexes, VendorIndex{
			Vendor: o.text("vendor"), Platform: o.text("platform"), GPUs: o.words("gpus"), Kind: o.text("kind"),
			URL: o.text("url"), Pythons: o.versions("pythons"), Status: o.text("status"),
			Names: o.text("names"), Proof: r.proof(o), Source: r.place(o)})
	})
}

// place reads the row's source and returns where the row stands.
func (r *rowReader) place(o object) string {
	at, _ := r.source(o)
	return at
}

// numbers is a text of numbers parted by spaces.
func (o object) numbers(key string) []int {
	t, line := o.scalar(key, true)
	var out []int
	for _, w := range strings.Fields(t) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			o.s.fault(line, "%s: %q is not a number", key, text.Cut(w, 60))
			continue
		}
		out = append(out, n)
	}
	return out
}

// readExtensions reads a row that stands for several versions and platforms, and
// makes one Extension of each.
func readExtensions(r *rowReader, o object, m *Matrix) {
	e := Extension{
		Package: o.text(
			"package",
		), Sdist: o.yes("sdist"), Python: o.specifier("python").String(), FreeThreaded: o.yes("free_threaded"), Yanked: o.yes("yanked"),
		Torch: o.specifier("torch"), TorchLabels: o.words("builds"), CUDA: o.text("cuda"), Native: o.codes("cubins"), PTX: o.codes("ptx"),
		MinSM: o.sm("min_sm"), Needs: o.words("needs"), Fails: o.text("fails"), Proof: r.proof(o), Note: o.text("notes"), Source: r.place(o)}
	platforms := o.words("on")
	if len(platforms) == 0 {
		platforms = []string{""}
	}
	for _, e.Version = range o.pythons("versions") {
		for _, p := range platforms {
			e.OS, e.Arch, _ = strings.Cut(p, "-")
			m.Extensions = append(m.Extensions, e)
		}
	}
}
