package page

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/plan"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// TestE2EPage builds the page and holds it against the program, and does in a browser
// what people do. It needs node, and for the browser npm and Chromium; what is not
// there is said.
func TestE2EPage(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it builds WebAssembly and starts a browser: `make e2e` runs it")
	}
	t.Parallel() // beside the downloads of other tests
	dir := t.TempDir()
	site := filepath.Join(dir, "site")
	command(t, nil, "go", "run", "./internal/ci/site", "-out", site)
	node, err := exec.LookPath("node")
	t.Run("size", func(t *testing.T) { sizes(t, node, site) })
	t.Run("parity", func(t *testing.T) { parity(t, node, site) })
	if err != nil {
		t.Skip("no node is here: the page's functions were compared as Go, not as WebAssembly, and nothing was tried in a browser")
	}
	t.Run("browser", func(t *testing.T) { browser(t, node, site) })
	t.Run("firefox", func(t *testing.T) { firefox(t, node, site) })
}

// firefox asks the one file in Firefox, over its own WebDriver BiDi.
func firefox(t *testing.T, node, site string) {
	for _, name := range []string{"firefox-esr", "firefox"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		args := []string{"testdata/firefox.mjs", filepath.Join(filepath.Dir(site), "envfix.html"), program}
		if bytes.Contains(command(t, nil, node, "--help"), []byte("--experimental-websocket")) { // 20; from 22 on it is no flag
			args = slices.Insert(args, 0, "--experimental-websocket")
		}
		out, err := exec.Command(node, args...).CombinedOutput()
		t.Logf("%s", out)
		if err != nil || bytes.Count(out, []byte("ok ")) != 2 {
			t.Errorf("in Firefox: %v", err)
		}
		return
	}
	t.Skip("no Firefox is here (Debian: apt-get install firefox-esr): nothing was tried in it")
}

// command runs a program in the repository's root.
func command(t *testing.T, stdin []byte, program string, args ...string) []byte {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Stdin = "../..", bytes.NewReader(stdin)
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, out, problems.Bytes())
	}
	return out
}

// The one file, and with the figures what has to come before the first answer as a
// server would compress it: brotli's best takes half a minute.
func sizes(t *testing.T, node, site string) {
	const first, whole = 1_600_000, 3_200_000
	info, err := os.Stat(filepath.Join(filepath.Dir(site), "envfix.html"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the one file: %.2f MB", float64(info.Size())/1e6)
	if info.Size() >= whole {
		t.Errorf("the one file has %d bytes; less than %d are wanted", info.Size(), whole)
	}
	if os.Getenv("ENVFIX_FIGURES") == "" || node == "" {
		return
	}
	out := command(t, nil, node, "-e", `
const fs = require("fs"), zlib = require("zlib"), dir = process.argv[1];
let sum = 0;
for (const name of fs.readdirSync(dir)) if (name !== "doctor.bin")
  sum += zlib.brotliCompressSync(fs.readFileSync(dir + "/" + name), { params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
console.log(sum)`, site)
	n := 0
	if err := json.Unmarshal(bytes.TrimSpace(out), &n); err != nil {
		t.Fatal(err)
	}
	t.Logf("before the first answer: %.2f MB with brotli", float64(n)/1e6)
	if n >= first {
		t.Errorf("%d bytes with brotli before the first answer; less than %d are wanted", n, first)
	}
}

// The page and the program answer alike: machines are drawn, each is asked of the
// WebAssembly in node and of the program by the flags that the page names.
func parity(t *testing.T, node, site string) {
	machines := 250
	if os.Getenv("ENVFIX_FIGURES") != "" || os.Getenv("ENVFIX_E2E") == "all" {
		machines = 1000
	}
	envfix := filepath.Join(t.TempDir(), "envfix")
	command(t, nil, "go", "build", "-o", envfix, "./cmd/envfix")
	r := rand.New(rand.NewSource(4))
	var questions []Words
	for range machines {
		w := draw(r)
		w.Today = time.Now().UTC().Format(time.DateOnly) // as the program's
		questions = append(questions, w)
	}
	lines := answers(t, node, site, questions)
	if len(lines) != machines {
		t.Fatalf("%d answers to %d questions", len(lines), machines)
	}
	facts := filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(facts, Base().Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	ask := asker{envfix, facts, t.TempDir()}
	work := make(chan int)
	done := make(chan bool)
	for range 2 {
		go func() {
			for i := range work {
				ask.compare(t, questions[i], lines[i])
			}
			done <- true
		}()
	}
	for i := range questions {
		work <- i
	}
	close(work)
	<-done
	<-done
	t.Logf("%d machines: the page and the program answer alike", machines)
}

// answers are those of the WebAssembly, a line each; without node those of the same
// functions as Go.
func answers(t *testing.T, node, site string, questions []Words) [][]byte {
	t.Helper()
	if node != "" {
		in, err := json.Marshal(questions)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Split(bytes.TrimSpace(command(t, in, node, "internal/page/testdata/parity.mjs", site)), []byte("\n"))
	}
	d := desk(t)
	var out [][]byte
	for _, q := range questions {
		in, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := d.Call("ask", string(in))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, []byte(answer))
	}
	return out
}

// An asker asks the program about the page's machine.
type asker struct{ envfix, facts, dir string }

func (a asker) compare(t *testing.T, w Words, line []byte) {
	var page Answer
	if err := json.Unmarshal(line, &page); err != nil {
		t.Errorf("%+v: %v", w, err)
		return
	}
	if page.Error == nil {
		w = page.Words // with the driver that the page took for the newest
	}
	args := append([]string{"plan", "--json", "--facts", a.facts}, w.Args(true)...)
	if w.Manager == "" || w.Manager == "uv" {
		args = append(args, "--manager", "uv")
	}
	if w.Manager != "conda" {
		args = append(args, "--in-place")
	}
	c := exec.Command(a.envfix, args...)
	c.Dir = a.dir
	c.Env = append(os.Environ(), "ENVFIX_QUICK=1", "XDG_STATE_HOME="+a.dir, "UV_DEFAULT_INDEX=", "UV_INDEX_URL=", "PIP_INDEX_URL=")
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if page.Error != nil {
		if err == nil || !strings.Contains(oneLine(problems.String()), oneLine(page.Error.Text)) {
			t.Errorf("%s: the page refuses (%s), the program says\n%s%s", strings.Join(args, " "), page.Error.Text, out, problems.Bytes())
		}
		return
	}
	p, err := plan.Decode(out)
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, problems.Bytes())
		return
	}
	program := Decided{Decision: p.Decision, Choice: &p.Choice, Driver: p.Driver, Told: resolver.Told{Then: p.Then, Fallback: p.Fallback, Environments: p.Environments,
		VisibleGPUs: p.VisibleGPUs, Nearest: p.Nearest, Alternatives: p.Alternatives, Reasons: p.Reasons, Warnings: p.Warnings, HeldBack: p.HeldBack}}
	program.Warnings = slices.DeleteFunc(program.Warnings, func(w string) bool { return strings.HasPrefix(w, "from the data alone") }) // as the page always is
	if page.Decided.Choice == nil {
		program.Choice = nil // in a plan it is empty
	}
	if w.Manager == "pip" { // the page gives its commands a Python, which facts would have to name
		program.Warnings, page.Decided.Warnings = nil, nil
	}
	if diff := cmp.Diff(plain(t, program), plain(t, page.Decided)); diff != "" {
		t.Errorf("%s (-program +page):\n%s", strings.Join(args, " "), diff)
	}
	a.own(t, page)
}

// own runs the lines with which the page names envfix itself, as a shell takes them,
// where they are not what was just compared: of a split, and where nothing fits.
func (a asker) own(t *testing.T, page Answer) {
	split := page.Decided.Decision == resolver.Split
	if !split && page.Decided.Decision != resolver.NoSolution || page.Do[0].Shell != "sh" {
		return
	}
	served := slices.DeleteFunc(slices.Clone(page.Decided.Environments), func(e resolver.Environment) bool { return e.Choice == nil })
	if split && len(page.Do[0].Lines) != len(served) {
		t.Errorf("%+v: %d lines for %d environments", page.Words, len(page.Do[0].Lines), len(served))
		return
	}
	for i, line := range page.Do[0].Lines {
		line, ok := strings.CutPrefix(line, "uvx envfix-gpu ")
		if !ok {
			t.Errorf("%+v: %s", page.Words, line)
		}
		if split { // what apply would do on that machine
			line = strings.Replace(line, "apply", "plan --json", 1) + commandLine("", append(page.Words.Machine.Args(), "--facts", a.facts))
		}
		c := exec.Command("sh", "-c", a.envfix+" "+line)
		c.Dir, c.Env = a.dir, append(os.Environ(), "XDG_STATE_HOME="+a.dir)
		out, err := c.Output()
		if !split {
			if e, failed := err.(*exec.ExitError); failed && e.ExitCode() == 2 || len(out) == 0 {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			continue
		}
		p, err := plan.Decode(out)
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
			continue
		}
		got := p.Choice
		if p.Then != nil { // after the driver that this environment needs
			got = *p.Then
		}
		if want := served[i].Choice; got.Torch != want.Torch || got.Build != want.Build {
			t.Errorf("%s: %s, torch %s, build %s, want %+v", line, p.Decision, got.Torch, got.Build, want)
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain is what JSON says of a value, an empty list like none.
func plain(t *testing.T, v any) map[string]any {
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Error(err)
	}
	for k, v := range out {
		if list, ok := v.([]any); v == nil || ok && len(list) == 0 {
			delete(out, k)
		}
	}
	return out
}

// browser does what people do, in Chromium.
func browser(t *testing.T, node, site string) {
	chromium := chromiumHere(t)
	modules, err := filepath.Abs("../../.tools/page")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(filepath.Join(modules, "installed.json")); err != nil || !bytes.Equal(have, want) {
		if err := os.MkdirAll(modules, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(modules, "package.json"), want, 0o644); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
		c.Dir = modules
		if out, err := c.CombinedOutput(); err != nil {
			t.Skipf("npm cannot install playwright-core and axe-core, so nothing was tried in a browser: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(modules, "installed.json"), want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"testdata/interact.mjs", site, filepath.Join(filepath.Dir(site), "envfix.html"), modules, chromium, someQuestions(t)}
	if shots := os.Getenv("ENVFIX_SHOTS"); shots != "" {
		args = append(args, shots)
	}
	out, err := exec.Command(node, args...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || bytes.Count(out, []byte("\nok ")) < 12 && os.Getenv("ENVFIX_FIGURES") != "only" {
		t.Errorf("in the browser: %v", err)
	}
}

// someQuestions is a file of drawn questions.
func someQuestions(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewSource(5))
	var list []Words
	for range 60 {
		w := draw(r)
		w.Today = "" // the page says it
		list = append(list, w)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "questions.json")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// chromiumHere is the system's Chromium.
func chromiumHere(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is here (Debian: apt-get install chromium): nothing was tried in a browser")
	return ""
}
