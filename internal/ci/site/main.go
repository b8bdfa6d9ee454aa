// Site builds the web page: a folder for any web server, and one file that works from
// a disk. `make site` runs it in the repository's root.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/chart"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"

	"envfix/internal/ci/must"
)

const web = "internal/page/web"

// modules are the page's scripts, each after those that it imports.
var modules = []string{"engine.js", "state.js", "gpus.js", "answer.js", "map.js", "page.js"}

func main() {
	out := flag.String("out", "dist/site", "the `FOLDER` of the site; the one file is beside it, envfix.html")
	flag.Parse()
	if err := must.Try(func() { build(*out) }); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build writes the folder and the one file.
func build(out string) {
	must.Do(os.RemoveAll(out))
	must.Do(os.MkdirAll(out, 0o755))
	wasm := program(filepath.Join(out, "envfix.wasm"))
	files := sources()
	files["doctor.bin"] = know.Embedded().Slim(read.Quiet)
	folder := map[string][]byte{"page.js": bundle(files), "page.css": style(files), "wasm_exec.js": files["wasm_exec.js"], "doctor.bin": files["doctor.bin"]}
	load := string(files["load.js"])
	folder["index.html"] = []byte(strings.NewReplacer("{{load}}", load, "{{csp}}", "default-src 'none'; script-src 'self' "+hash(load)+
		" 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'").Replace(string(files["index.html"])))
	for name, text := range folder {
		must.Do(os.WriteFile(filepath.Join(out, name), text, 0o644))
	}
	one, path := oneFile(files, wasm), filepath.Join(filepath.Dir(out), "envfix.html")
	must.Do(os.WriteFile(path, one, 0o644))
	fmt.Printf("%s/: %d files, envfix.wasm %.2f MB\n%s: %.2f MB, works from a disk\n", out, len(folder)+1, float64(len(wasm))/1e6, path, float64(len(one))/1e6)
}

// program builds the resolver to WebAssembly. Without inlining it is a third smaller
// when compressed, and as fast: its time goes into loading.
func program(path string) []byte {
	aside := filepath.Join(filepath.Dir(filepath.Dir(path)), ".site")
	defer os.RemoveAll(aside)
	mod := slim(aside)
	cmd := exec.Command("go", "build", "-modfile="+mod, "-overlay="+brief(aside), "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l",
		"-o", must.Get(filepath.Abs(path)), "./cmd/envfix-page")
	cmd.Env = wasmEnvironment()
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		must.Do(fmt.Errorf("go build ./cmd/envfix-page: %w", err))
	}
	module := must.Get(join(must.Get(os.ReadFile(path))))
	must.Do(os.WriteFile(path, module, 0o755))
	return module
}

// sources are the files that the page is made of, by their names.
func sources() map[string][]byte {
	files := map[string][]byte{"map.js": []byte(chart.JS), "map.css": []byte(chart.CSS)}
	for _, name := range append([]string{"index.html", "page.css", "load.js"}, modules...) {
		if _, made := files[name]; made {
			continue
		}
		files[name] = must.Get(os.ReadFile(filepath.Join(web, name)))
	}
	root := must.Get(exec.Command("go", "env", "GOROOT").Output())
	files["wasm_exec.js"] = must.Get(os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")))
	files["index.html"] = bytes.Replace(files["index.html"], []byte("{{legend}}"), []byte(chart.Legend), 1)
	return files
}

var (
	imports = regexp.MustCompile(`(?m)^(?:import |\s*// ).*\n`) // and what is said to who reads the source
	exports = regexp.MustCompile(`(?m)^export `)
)

// bundle is all modules as one, so that a browser asks once and not for what page.js
// names when it has come: their names differ, which the e2e test would notice first.
func bundle(files map[string][]byte) []byte {
	var b bytes.Buffer
	for i, name := range modules {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(exports.ReplaceAll(imports.ReplaceAll(files[name], nil), nil))
	}
	return b.Bytes()
}

func style(files map[string][]byte) []byte {
	return slices.Concat([]byte(chart.Palette), files["page.css"], []byte("\n"), files["map.css"])
}

// oneFile puts everything into the page. Its Content-Security-Policy admits exactly
// these scripts and styles, and no connection at all.
func oneFile(files map[string][]byte, wasm []byte) []byte {
	page := string(files["index.html"])
	load, exec, script := string(files["load.js"]), string(files["wasm_exec.js"]), string(bundle(files))
	style := string(style(files))
	put := func(old, new string) {
		if strings.Count(page, old) != 1 {
			must.Do(fmt.Errorf("index.html: %q is not there once", old))
		}
		page = strings.Replace(page, old, new, 1)
	}
	put(`<script data-program="envfix.wasm">{{load}}</script>`, `<script data-program="">`+load+`</script>`)
	put(`<link rel="stylesheet" href="page.css">`, "<style>"+style+"</style>")
	put(`<script src="wasm_exec.js" defer></script>`+"\n", "")
	put(`<script type="module" src="page.js"></script>`+"\n", "")
	put("</body>", "<script>"+exec+"</script>\n"+pieces(wasm)+data(`id="doctor-data"`, packed(files["doctor.bin"]))+
		"\n<script type=\"module\">"+script+"</script>\n</body>")
	put("{{csp}}", fmt.Sprintf("default-src 'none'; script-src %s %s %s %s 'wasm-unsafe-eval'; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		hash(load), hash(exec), hash(took), hash(script), hash(style)))
	return []byte(page)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// took is the script after a piece of the program: load.js has it decoded and compiled
// while the rest of the page arrives.
const took = "envfixPiece()"

// piece is how much of the compressed program lies in one block, in bytes.
const piece = 3 << 15

func pieces(program []byte) string {
	var b strings.Builder
	for rest := packed(program); len(rest) > 0; {
		n, attribute := min(piece, len(rest)), ""
		if n == len(rest) {
			attribute = "data-last"
		}
		b.WriteString(data(attribute, rest[:n]) + "<script>" + took + "</script>\n")
		rest = rest[n:]
	}
	return b.String()
}

// data is a block that no browser runs.
func data(attribute string, content []byte) string {
	return `<script type="application/octet-stream" ` + attribute + ">" + ascii(content) + "</script>"
}

// ascii writes each 13 bits as two of 91 printable characters, of which "<", which could end
// a block, is none: 8 % shorter than base64, 2 % shorter than Ascii85. load.js reads it back.
func ascii(content []byte) string {
	text := make([]byte, 0, len(content)*16/13+2)
	add := func(v int) {
		if v += '#'; v >= '<' {
			v++
		}
		text = append(text, byte(v))
	}
	bits, n := 0, 0
	for _, b := range content {
		bits |= int(b) << n
		if n += 8; n >= 13 {
			add(bits % 8192 % 91)
			add(bits % 8192 / 91)
			bits, n = bits>>13, n-13
		}
	}
	if n > 0 {
		add(bits % 91)
	}
	if n > 7 || bits >= 91 {
		add(bits / 91)
	}
	return string(text)
}

func packed(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that exists
	_, _ = w.Write(content)                               // into memory
	_ = w.Close()
	return b.Bytes()
}
