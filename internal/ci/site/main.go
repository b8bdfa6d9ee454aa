// Site builds the web page: a folder for any web server, and one file that works from
// a disk. `make site` runs it in the repository's root.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"envfix/internal/chart"
	"envfix/internal/doctor/know"
)

const web = "internal/page/web"

// modules are the page's scripts, each after those that it imports.
var modules = []string{"engine.js", "state.js", "gpus.js", "answer.js", "map.js", "page.js"}

func main() {
	out := flag.String("out", "dist/site", "the `FOLDER` of the site; the one file is beside it, envfix.html")
	flag.Parse()
	if err := build(*out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build writes the folder and the one file.
func build(out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	wasm, err := program(filepath.Join(out, "envfix.wasm"))
	if err != nil {
		return err
	}
	files, err := sources()
	if err != nil {
		return err
	}
	files["doctor.bin"] = know.Embedded().Slim()
	folder := map[string][]byte{}
	for name, text := range files {
		folder[name] = text
	}
	folder["index.html"] = bytes.Replace(files["index.html"], []byte("{{csp}}"),
		[]byte("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"), 1)
	for name, text := range folder {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	one, err := oneFile(files, wasm)
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(out), "envfix.html")
	if err := os.WriteFile(path, one, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s/: %d files, envfix.wasm %.2f MB\n%s: %.2f MB, works from a disk\n", out, len(folder)+1, float64(len(wasm))/1e6, path, float64(len(one))/1e6)
	return nil
}

// program builds the resolver to WebAssembly. Without inlining it is a third smaller
// when compressed, and as fast: its time goes into loading.
func program(path string) ([]byte, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	aside := filepath.Join(filepath.Dir(filepath.Dir(path)), ".site")
	mod, err := withoutYAML(aside)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	cmd := exec.Command("go", "build", "-modfile="+mod, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l", "-o", abs, "./cmd/envfix-page")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/envfix-page: %w", err)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if module, err = join(module); err != nil {
		return nil, err
	}
	return module, os.WriteFile(path, module, 0o755)
}

// noYAML stands for the reader of YAML, which the page never calls.
//
//go:embed noyaml.txt
var noYAML string

// withoutYAML writes, into a folder, a package in place of the reader of YAML and a
// go.mod and go.sum that take it; it returns the path of that go.mod.
func withoutYAML(dir string) (string, error) {
	stub := filepath.Join(dir, "yaml")
	if err := os.MkdirAll(stub, 0o755); err != nil {
		return "", err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	from := stub
	if !filepath.IsAbs(from) {
		from = "./" + filepath.ToSlash(from) // the same bytes from every checkout
	}
	for path, text := range map[string]string{
		filepath.Join(stub, "go.mod"):  "module gopkg.in/yaml.v3\n\ngo 1.21\n",
		filepath.Join(stub, "yaml.go"): noYAML,
		filepath.Join(dir, "go.mod"):   string(mod) + fmt.Sprintf("\nreplace gopkg.in/yaml.v3 => %q\n", from),
		filepath.Join(dir, "go.sum"):   string(sums),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "go.mod"), nil
}

// sources are the files that the page is made of, by their names.
func sources() (map[string][]byte, error) {
	files := map[string][]byte{"map.js": []byte(chart.JS), "map.css": []byte(chart.CSS)}
	for _, name := range append([]string{"index.html", "page.css"}, modules...) {
		if _, made := files[name]; made {
			continue
		}
		text, err := os.ReadFile(filepath.Join(web, name))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if files["wasm_exec.js"], err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, err
	}
	files["index.html"] = bytes.Replace(files["index.html"], []byte("{{legend}}"), []byte(chart.Legend), 1)
	return files, nil
}

var (
	imports = regexp.MustCompile(`(?m)^import .*\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// bundle is all modules as one: their names differ, which the e2e test of the one file
// would notice first.
func bundle(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range modules {
		b.Write(exports.ReplaceAll(imports.ReplaceAll(files[name], nil), nil))
	}
	return b.Bytes()
}

// oneFile puts everything into the page. Its Content-Security-Policy admits exactly
// these scripts and styles, and no connection at all.
func oneFile(files map[string][]byte, wasm []byte) ([]byte, error) {
	page := string(files["index.html"])
	exec, script := string(files["wasm_exec.js"]), string(bundle(files))
	style := string(files["page.css"]) + string(files["map.css"])
	var err error
	put := func(old, new string) {
		if strings.Count(page, old) != 1 && err == nil {
			err = fmt.Errorf("index.html: %q is not there once", old)
		}
		page = strings.Replace(page, old, new, 1)
	}
	put(`<link rel="preload" href="envfix.wasm" as="fetch" crossorigin>`+"\n", "")
	put(`<link rel="stylesheet" href="page.css">`, "<style>"+style+"</style>")
	put(`<link rel="stylesheet" href="map.css">`+"\n", "")
	put(`<script src="wasm_exec.js"></script>`+"\n", "")
	put(`<script type="module" src="page.js"></script>`+"\n", "")
	put("</body>", data("wasm-data", wasm)+data("doctor-data", files["doctor.bin"])+"<script>"+exec+"</script>\n<script type=\"module\">"+script+"</script>\n</body>")
	put("{{csp}}", fmt.Sprintf("default-src 'none'; script-src %s %s 'wasm-unsafe-eval'; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		hash(exec), hash(script), hash(style)))
	return []byte(page), err
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// data is a block that no browser runs: the gzip of some bytes.
func data(id string, content []byte) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that exists
	_, _ = w.Write(content)                               // into memory
	_ = w.Close()
	return `<script type="application/octet-stream" id="` + id + `">` + base64.StdEncoding.EncodeToString(b.Bytes()) + "</script>\n"
}
