package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// wheelNote is prepended to the source of rows that the wheel itself proved.
const wheelNote = "wheel bytes of the default index, read 2026-11-21"

// indexes is the folder of PyTorch's own indexes.
const indexes = "https://download.pytorch.org/whl/"

func (f *factory) torch() error {
	variants, err := f.table("torch/variants.csv")
	if err != nil {
		return err
	}
	verified, err := f.table("torch/wheels_verified.csv")
	if err != nil {
		return err
	}
	companions, err := f.table("torch/companions.csv")
	if err != nil {
		return err
	}
	t := &torchWriter{verified: map[string]row{}, files: map[string]*file{}}
	if t.freeThreaded, err = f.freeThreaded(); err != nil {
		return err
	}
	for _, v := range verified {
		t.verified[v["release"]+" "+strings.Replace(v["platform"], "windows_amd64", "windows_x86_64", 1)] = v
	}
	byRelease := map[string][]row{}
	for _, v := range variants {
		byRelease[v["torch"]] = append(byRelease[v["torch"]], v)
	}
	t.shareSources(companions, variants)
	for i := len(companions) - 1; i >= 0; i-- {
		t.release(companions[i], byRelease[companions[i]["torch"]])
	}
	f.files["sources.yaml"] = t.shared.bytes()
	for minor, file := range t.files {
		f.files["torch/"+minor+".yaml"] = file.bytes()
	}
	return nil
}

// freeThreaded reads the free-threaded Pythons per release out of
// releases.yaml, line by line: the rest of it repeats the tables.
func (f *factory) freeThreaded() (map[string]string, error) {
	out := map[string]string{}
	version := regexp.MustCompile(`^- version: "([^"]+)"`)
	list := regexp.MustCompile(`free_threaded: \[([^\]]*)\]`)
	for _, name := range []string{"torch/releases.yaml", "torch/releases_2.15.yaml"} {
		text, err := os.ReadFile(filepath.Join(f.facts, name))
		if err != nil {
			return nil, err
		}
		release := ""
		for line := range strings.Lines(string(text)) {
			if m := version.FindStringSubmatch(line); m != nil {
				release = m[1]
			}
			if m := list.FindStringSubmatch(line); m != nil {
				out[release] = strings.NewReplacer(`"`, "", ",", "").Replace(m[1])
			}
		}
	}
	return out, nil
}

// shareSources gives the sources that several files name to one file of their own.
func (t *torchWriter) shareSources(companions, variants []row) {
	t.shared = newFile("Sources that several files name.")
	minors := map[string]map[string]bool{}
	note := func(text, hint, torch string) {
		if minors[text] == nil {
			minors[text] = map[string]bool{}
		}
		minors[text][firstTwo(torch)] = true
		if len(minors[text]) == 2 {
			t.shared.source(hint, text)
		}
	}
	for _, c := range companions {
		note(c["source"], "companions-all", c["torch"])
	}
	for _, v := range variants {
		note(sourceOf(v), v["proof"]+"-all", v["torch"])
	}
}

// source names a source: a shared one, or one of the file's own.
func (t *torchWriter) source(out *file, hint, text string) string {
	if n, ok := t.shared.names[text]; ok {
		return n
	}
	return out.source(hint, text)
}

// sourceOf is a row's source; the wheel itself where it proved the row.
func sourceOf(b row) string {
	if b["proof"] == "wheel" && !strings.HasPrefix(b["source"], "wheel bytes") {
		return wheelNote + "; before that " + b["source"]
	}
	return b["source"]
}

type torchWriter struct {
	shared       *file
	verified     map[string]row // by "release os_arch"
	freeThreaded map[string]string
	files        map[string]*file
}

func (t *torchWriter) release(c row, builds []row) {
	version := c["torch"]
	parts := strings.Split(version, ".")
	minor := parts[0] + "." + parts[1]
	out := t.files[minor]
	if out == nil {
		out = newFile("PyTorch "+minor+": every published build.", "A build says which sets it uses; later sets and the row itself win.")
		out.head = []pair{{"torch", minor}, {"proof", "metadata"}, {"indexes", indexes}}
		out.line("releases:")
		t.files[minor] = out
	}
	date := ""
	for _, b := range builds {
		if v := t.verified[version+" "+b["os"]+"_"+b["arch"]]; v != nil && (date == "" || v["upload_time"][:10] < date) {
			date = v["upload_time"][:10]
		}
	}
	out.line("- torch: %q", version)
	out.line("  date: %q", date)
	out.line("  source: %s", t.source(out, "companions", c["source"]))
	out.line("  companions: %s", flow([]pair{
		{"torchvision", c["torchvision"]}, {"torchaudio", c["torchaudio"]}, {"triton", tritonOf(c["triton"])},
		{"torchtext", c["torchtext"]}, {"torchcodec", c["torchcodec"]}}))
	out.line("  builds:")
	sort.SliceStable(builds, func(i, j int) bool { return order(builds[i]) < order(builds[j]) })
	for _, b := range builds {
		out.row(2, t.build(out, b))
	}
}

// order puts the default index's builds first, then newer CUDA, then the rest.
func order(b row) string {
	first := "b"
	if b["is_pypi_default"] == "yes" {
		first = "a"
	}
	kind := "z" + b["variant"]
	if n, ok := strings.CutPrefix(b["variant"], "cu"); ok {
		kind = fmt.Sprintf("c%03d", 999-atoi(n))
	}
	return b["os"] + b["arch"] + first + kind
}

func atoi(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

// tritonOf drops the operator of "~=3.8.0": the release that was installed is
// the first of that range. Texts that say that there is none give "".
func tritonOf(s string) string {
	if strings.HasPrefix(s, "(") {
		return ""
	}
	return strings.TrimPrefix(s, "~=")
}

func (t *torchWriter) build(out *file, b row) []pair {
	seen := row{}
	if b["is_pypi_default"] == "yes" {
		seen = t.verified[b["torch"]+" "+b["os"]+"_"+b["arch"]]
	}
	label := b["variant"]
	if b["os"] == "macos" && b["arch"] == "arm64" {
		label = "mps" // the default wheel for Apple silicon has MPS in it
	}
	free := t.freeThreaded[b["torch"]]
	if tags := seen["python_tags"]; tags != "" {
		free = freeTags(tags)
	}
	platform := out.set(b["os"]+"-"+b["arch"], []pair{
		{"os", b["os"]}, {"arch", b["arch"]}, {"python", b["python_min"] + " - " + b["python_max"]},
		{"free_threaded", free}, {"glibc", b["glibc_floor"]}, {"macos", macOf(seen["platform_tags"])}})
	triton := tritonOf(b["triton"])
	if triton == "" {
		triton = tritonOf(seen["triton"])
	}
	stack := out.set(label, []pair{
		{"build", label}, {"index", strings.TrimPrefix(b["index_url"], indexes)}, {"cuda", b["cuda_toolkit"]}, {"cudnn", b["cudnn"]},
		{"nccl", b["nccl"]}, {"triton", triton}, {"cubins", dotCodes(b["sm_list"])}, {"ptx", dotCodes(b["ptx"])},
		{"pins", pins(b, seen)}})
	known := out.set(b["proof"], []pair{{"proof", b["proof"]}, {"source", t.source(out, b["proof"], sourceOf(b))}})
	return []pair{
		{"use", stack + " " + platform + " " + known}, {"default", yes(b["is_pypi_default"] == "yes")}, {"status", status(b["channel_status"])},
		{"companions", companionsOf(b, label)}, {"notes", b["notes"]}}
}

// status maps the facts' words to the three that are not "offered".
func status(s string) string {
	switch {
	case strings.HasPrefix(s, "limited / not advertised"):
		return "not advertised"
	case s == "not seen":
		return s
	}
	return ""
}

// companionsOf says where a build differs from its release. torchaudio 2.11.0,
// the last, is built for CUDA 13.0 and compares major.minor at import: beside a
// 13.2 torch it fails (defects.csv, a real install); a repackaged wheel for 13.2
// is reported, not seen. Without CUDA in torch it does not compare.
func companionsOf(b row, label string) string {
	switch {
	case label == "cu132":
		return raw + `{torchaudio: ""}`
	case b["torch"] == "2.15.0" && (b["os"] == "windows" || b["os"] == "macos") && (label == "cpu" || label == "mps"):
		return raw + `{torchaudio: "2.11.0"}`
	}
	return ""
}

// pins are versions that the wheel's own metadata names beside its toolkit's.
func pins(b, seen row) string {
	if b["cuda_toolkit"] == "" {
		return ""
	}
	cublas := seen["cublas"]
	if high, _, ok := strings.Cut(strings.TrimPrefix(cublas, "<="), ","); ok {
		cublas = high // <=13.1.1.3,>=13.1.0.3: installers take the newest
	}
	p := []pair{{"cublas", cublas}, {"nvshmem", seen["nvshmem"]}, {"cusparselt", seen["cusparselt"]}}
	if b["torch"] == "2.15.0" {
		p = append(p, pair{"curand", raw + `""`}) // libtorch_cuda.so no longer links it
	}
	if text := flow(p); text != "{}" {
		return raw + text
	}
	return ""
}

// freeTags turns "313 313t 314 314t" into "3.13t 3.14t".
func freeTags(tags string) string {
	var out []string
	for _, t := range strings.Fields(tags) {
		if strings.HasSuffix(t, "t") {
			out = append(out, t[:1]+"."+t[1:])
		}
	}
	return strings.Join(out, " ")
}

// macOf turns "macosx_11_0_arm64 macosx_14_0_arm64" into the oldest, "11.0".
func macOf(tags string) string {
	m := regexp.MustCompile(`macosx_(\d+)_(\d+)_`).FindStringSubmatch(tags)
	if m == nil {
		return ""
	}
	return m[1] + "." + m[2]
}

// dotCodes turns "75 90a 120" into "7.5 9.0a 12.0".
func dotCodes(codes string) string {
	var out []string
	for _, c := range strings.Fields(codes) {
		digits := strings.TrimRight(c, "af")
		out = append(out, digits[:len(digits)-1]+"."+digits[len(digits)-1:]+c[len(digits):])
	}
	return strings.Join(out, " ")
}
