package page

import (
	"fmt"
	"math/rand"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"envfix/internal/describe"
	"envfix/internal/doctor/know"
	reader "envfix/internal/doctor/read"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

func desk(t *testing.T) *Desk {
	t.Helper()
	return NewDesk()
}

// Draw is a question that somebody could ask.
func draw(r *rand.Rand) Words {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	w := Words{Today: "2026-11-22"}
	w.OS = pick("", "", "", "", "linux", "windows", "windows", "wsl2", "macos")
	w.Driver = pick("", "", "none", "450.80.02", "470.256.02", "525.60.13", "535.54.03", "550.54.14", "570.86.16", "580", "580.65.06")
	w.Python = pick("", "", "3.8", "3.10", "3.12", "3.14", "3.15", "3.14t")
	w.Manager = pick("", "", "", "pip", "conda")
	w.Libc = pick("", "", "glibc-2.17", "glibc-2.28", "musl-1.2")
	switch w.OS {
	case "windows":
		w.Libc = ""
	case "macos":
		w.Libc, w.Driver, w.Arch = "", "", pick("arm64", "x86_64")
	case "", "linux":
		w.Arch = pick("", "", "", "x86_64", "aarch64")
	}
	usual := []string{"RTX 4090", "V100", "GTX 1080", "H100", "RTX 5090", "A100", "K80", "T4", "8.6", "RTX PRO 6000", "P100", "L4", "9.0", "B200", "GTX 980"}
	rare := []string{"12.1", "Jetson AGX Orin", "RX 7900 XTX", "gfx906", "M3 Max", "Arc A770", "GH200", "DGX Spark", "Jetson Orin Nano", "MI300X", "gfx1201", "Radeon 780M"}
	for range max(0, r.Intn(5)-1) {
		w.Machine.GPUs = append(w.Machine.GPUs, pick(usual...))
	}
	switch r.Intn(8) {
	case 0:
		w.Machine.GPUs = append(w.Machine.GPUs, pick("RX 7900 XTX", "gfx906", "Arc A770"))
	case 1, 2:
		w.Machine.GPUs = []string{pick(rare...)} // most are what a machine has alone
	}
	if len(w.Machine.GPUs) > 1 && r.Intn(6) == 0 {
		w.Request.GPUs = pick("0", "1", "0,1")
	}
	w.ChangeDriver = r.Intn(12) == 0
	switch r.Intn(8) {
	case 7:
		w.Packages = []string{"torch", pick("vllm", "transformers", "deepspeed", "tensorflow", "sglang", "numpy<2"), pick("xformers", "triton", "torchvision==0.24.*", "mamba-ssm")}
	case 0:
		w.Packages = []string{pick("torch==2.9.*", "torch>=2.12", "torch==2.6.0+cu124", "torch<2.3")}
	case 1:
		w.Packages = []string{"torch", pick("vllm", "xformers", "flash-attn", "torchaudio", "jax", "bitsandbytes")}
	case 2:
		w.CUDA = pick("12.6", "12", "13.0", "11.8")
	case 3:
		w.Build = pick("cu126", "cpu", "cu118", "rocm6.4")
	}
	w.CPU, w.JIT = w.Build == "" && r.Intn(12) == 0, r.Intn(6) == 0
	w.OnlyIndex = pick("", "", "", "", "default", "pytorch")
	return w
}

// Every question has an answer in words: a title, a sentence, and for what can be
// installed commands that a shell takes.
func TestAsk(t *testing.T) {
	d := desk(t)
	r := rand.New(rand.NewSource(1))
	decisions := map[resolver.Decision]int{}
	known := []Words{{Machine: describe.Machine{GPUs: []string{"K80"}, Driver: "570.86.16"}}, {Machine: describe.Machine{GPUs: []string{"RTX 5090", "K80"}, Driver: "570.86.16"}}, {Machine: describe.Machine{GPUs: []string{"RTX 4090", "P100"}, Driver: "610.43.02"}}}
	for n := range 250 {
		w := draw(r)
		if n < len(known) {
			w = known[n]
		}
		a := Ask(d.matrix, w)
		if a.Error != nil {
			if a.Error.Text == "" || len(a.Error.Hints) == 0 && !strings.Contains(a.Error.Text, "`") {
				t.Errorf("%+v: a refusal without a way out: %+v", w, a.Error)
			}
			continue
		}
		decisions[a.Decided.Decision]++
		if a.Title == "" || a.Text == "" || a.One == "" || len(a.Machine) == 0 || len(a.Do) == 0 {
			t.Fatalf("%+v: nothing to show: %+v", w, a)
		}
		for _, c := range a.Do {
			if c.Shell != "sh" || n%20 > 0 {
				continue
			}
			for _, l := range c.Lines {
				if strings.Contains(l, "{") || strings.Contains(l, "$gen") {
					t.Errorf("a placeholder is left: %s", l)
				}
				if out, err := exec.Command("sh", "-n", "-c", l).CombinedOutput(); err != nil {
					t.Errorf("no shell takes %q: %s", l, out)
				}
			}
		}
	}
	for _, want := range []resolver.Decision{resolver.Install, resolver.InstallCPU, resolver.UpgradeDriver, resolver.PinDriverBranch, resolver.NoSolution, resolver.UseVendorIndex, resolver.Split} {
		if decisions[want] == 0 {
			t.Errorf("no question was answered by %s: %v", want, decisions)
		}
	}
}

// A button of another answer leads to the answer that it promises.
func TestWays(t *testing.T) {
	d := desk(t)
	r := rand.New(rand.NewSource(2))
	kinds := map[string]int{}
	for range 250 {
		w := draw(r)
		a := Ask(d.matrix, w)
		for _, way := range a.Ways {
			if way.Words == nil {
				t.Errorf("%q is no change of words (%+v)", way.Change, w)
				continue
			}
			kind, _, _ := strings.Cut(way.Change, " ")
			kinds[kind]++
			b := Ask(d.matrix, *way.Words)
			if b.Error != nil {
				t.Errorf("%q leads to %q (%+v)", way.Change, b.Error.Text, w)
				continue
			}
			got := b.Decided.Choice
			if got == nil {
				got = b.Decided.Then
			}
			if got == nil || got.Torch != way.Torch || got.Build != way.Build {
				t.Errorf("%q promises torch %s %s and leads to %s %s %+v\nasked %+v\nthen  %+v", way.Change, way.Torch, way.Build, b.Decided.Decision, b.Title, got, w, *way.Words)
			}
		}
	}
	for _, kind := range []string{"python", "driver", "drop", "torch"} {
		if kinds[kind] == 0 {
			t.Errorf("no way of kind %s was tried: %v", kind, kinds)
		}
	}
}

// The words for a machine describe one that gets the same decision.
func TestDescribeOf(t *testing.T) {
	d := desk(t)
	r := rand.New(rand.NewSource(3))
	for range 80 {
		w := draw(r)
		q, err := read(d.matrix, w)
		if err != nil {
			continue
		}
		again := Base()
		if err := describe.Of(q.machine).Override(&again); err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		a, err1 := resolver.Resolve(d.matrix, q.machine, q.request)
		b, err2 := resolver.Resolve(d.matrix, again, q.request)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if diff := cmp.Diff([]any{a.Decision, a.Choice, a.Then, a.Nearest}, []any{b.Decision, b.Choice, b.Then, b.Nearest}); diff != "" {
			t.Errorf("%+v, by its words %v (-machine +words):\n%s", w, describe.Of(q.machine).Args(), diff)
		}
	}
}

const smi = `+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0 Off |                  Off |
|   1  NVIDIA GeForce RTX 4090        Off |   00000000:02:00.0 Off |                  Off |
+-----------------------------------------+------------------------+----------------------+
`

// A paste gives the words that it decides, and what the doctor says of it.
func TestPaste(t *testing.T) {
	d := desk(t)
	if _, err := d.Call("paste", smi); err == nil {
		t.Error("a paste is read without what the doctor knows")
	}
	if err := d.Know(string(know.Embedded().Slim(reader.Quiet))); err != nil {
		t.Fatal(err)
	}
	r := Paste(d.matrix, d.know, smi)
	if !slices.Equal(r.Words.Machine.GPUs, []string{"GeForce RTX 4090", "GeForce RTX 4090"}) || r.Words.Driver != "550.54.14" {
		t.Errorf("nvidia-smi: %+v", r.Words)
	}
	r = Paste(d.matrix, d.know, "RuntimeError: CUDA error: no kernel image is available for execution on the device\nNVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.")
	if len(r.Findings) == 0 || len(r.Findings[0].Fix) == 0 {
		t.Errorf("an error: %+v", r)
	}
	h := Base()
	if err := (describe.Machine{GPUs: []string{"H100"}, Driver: "570.86.16"}).Override(&h); err != nil {
		t.Fatal(err)
	}
	r = Paste(d.matrix, d.know, string(h.Encode()))
	if !slices.Equal(r.Words.Machine.GPUs, []string{"H100"}) || r.Words.Driver != "570.86.16" || r.Verdict != "" {
		t.Errorf("facts: %+v", r)
	}
	r = Paste(d.matrix, d.know, "<script>alert(1)</script>\x1b[31m\x00")
	for _, f := range r.Findings {
		if strings.Contains(f.Text, "\x1b") {
			t.Error("a control character came through")
		}
	}
}

// The slim knowledge finds what the whole does.
func TestSlim(t *testing.T) {
	d := desk(t)
	k, err := know.Decode(string(know.Embedded().Slim(reader.Quiet)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range know.Embedded().Messages {
		if m.Example == "" {
			continue
		}
		a, b := fmt.Sprint(Paste(d.matrix, know.Embedded(), m.Example)), fmt.Sprint(Paste(d.matrix, k, m.Example))
		if a != b {
			t.Errorf("%s: %s\nslim: %s", m.ID, a, b)
		}
	}
}

func TestSearch(t *testing.T) {
	d := desk(t)
	for typed, want := range map[string]string{"4090": "GeForce RTX 4090", "rtx 3060 t": "GeForce RTX 3060 Ti", "a100": "A100", "7900 xtx": "Radeon RX 7900 XTX", "dgx spark": "GB10", "arc a7": "Arc A770"} {
		found := d.search(typed)
		if !slices.ContainsFunc(found, func(m Model) bool { return strings.HasPrefix(m.Name, want) }) {
			t.Errorf("%q: %v", typed, found)
		}
	}
	for _, typed := range []string{"", " ", strings.Repeat("x", 999), "\t\n", "zzz"} {
		if found := d.search(typed); len(found) > 0 {
			t.Errorf("%q: %v", typed, found)
		}
	}
	for _, m := range d.search("rtx") {
		if g, err := describe.GPU(m.Name); err != nil || g.Vendor == "" {
			t.Errorf("%s is offered and not understood: %v", m.Name, err)
		}
	}
}

func TestMap(t *testing.T) {
	d := desk(t)
	a := d.mapOf(Words{Machine: describe.Machine{GPUs: []string{"V100"}}})
	b := d.mapOf(Words{Machine: describe.Machine{GPUs: []string{"RTX 4090"}}})
	c := d.mapOf(Words{Machine: describe.Machine{GPUs: []string{"RTX 4090"}, Driver: "535.54.03"}})
	if a.HTML == "" || a.Same || !b.Same || c.Same || a.HTML == b.HTML {
		t.Errorf("%v %v %v", a.Same, b.Same, c.Same)
	}
	if d.mapOf(Words{Machine: describe.Machine{GPUs: []string{"no such"}}}).HTML != "" {
		t.Error("a map of a GPU that nobody knows")
	}
}

// Words that make no sense are refused, never a crash.
func FuzzAsk(f *testing.F) {
	f.Add("RTX 4090", "580", "torch==2.9", "3.12", "glibc-2.28")
	f.Add("\x00", "-1", "a[", "3.", "musl")
	m := matrix.Embedded()
	f.Fuzz(func(t *testing.T, gpu, driver, pkg, python, libc string) {
		a := Ask(m, Words{Machine: describe.Machine{GPUs: []string{gpu}, Driver: driver, Libc: libc}, Request: describe.Request{Python: python}, Packages: []string{pkg}})
		if a.Error == nil && a.Title == "" {
			t.Errorf("no answer: %+v", a)
		}
	})
}
