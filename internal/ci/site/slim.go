package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/ci/must"
)

// What the page's build links in place of libraries, each for the part of it that the
// page uses. The program of the command line has the libraries themselves, and a test
// asks both a thousand questions.
var (
	//go:embed noyaml.txt
	noYAML string
	//go:embed nogoversion.txt
	noGoVersion string
	//go:embed lazyregexp.txt
	lazyRegexp string
)

// lazyPath is the import path of lazyRegexp, which only this build knows.
const lazyPath = "lazy.invalid/regexp"

// slim writes what the build takes in place of libraries into a folder, and a go.mod
// and go.sum that take it. It returns the path of that go.mod.
func slim(dir string) string {
	path := filepath.Join(dir, "go.mod")
	text := string(must.Get(os.ReadFile("go.mod"))) + "\nrequire " + lazyPath + " v0.0.0\n"
	instead := map[string]string{"gopkg.in/yaml.v3": noYAML, "github.com/hashicorp/go-version": noGoVersion, lazyPath: lazyRegexp}
	for _, module := range slices.Sorted(maps.Keys(instead)) {
		write(filepath.Join(dir, module, "go.mod"), "module "+module+"\n\ngo 1.24\n")
		write(filepath.Join(dir, module, "instead.go"), instead[module])
		text += replace(dir, module)
	}
	write(filepath.Join(dir, "go.sum"), string(must.Get(os.ReadFile("go.sum"))))
	write(path, text) // go list takes it
	for _, module := range lazily(dir, path) {
		text += replace(dir, module)
	}
	write(path, text)
	return path
}

// brief writes the table of modules without the versions that were read, and without a module
// that is called as its distribution is; it returns the overlay that puts it in its place.
func brief(dir string) string {
	const table = "data/modules.tsv"
	var rows strings.Builder
	for line := range strings.Lines(string(must.Get(os.ReadFile(table)))) {
		distribution, modules, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, _, _ := strings.Cut(distribution, "==")
		switch {
		case strings.HasPrefix(line, "#"):
		case modules == strings.ReplaceAll(name, "-", "_"):
			rows.WriteString(name + "\n")
		default:
			rows.WriteString(name + "\t" + modules + "\n")
		}
	}
	write(filepath.Join(dir, "modules.tsv"), rows.String())
	places := map[string]string{must.Get(filepath.Abs(table)): must.Get(filepath.Abs(filepath.Join(dir, "modules.tsv")))}
	write(filepath.Join(dir, "overlay.json"), string(must.Get(json.Marshal(map[string]any{"Replace": places}))))
	return filepath.Join(dir, "overlay.json")
}

// replace is a line of go.mod. A relative path gives the same bytes from every checkout.
func replace(dir, module string) string {
	from := filepath.ToSlash(filepath.Join(dir, module))
	if !filepath.IsAbs(dir) {
		from = "./" + from
	}
	return fmt.Sprintf("replace %s => %q\n", module, from)
}

// lazily copies the libraries of which a file imports regexp, with lazyRegexp in its
// place and without what the page does not link; it returns their module paths.
func lazily(dir, mod string) []string {
	files := linked(mod)
	var lazy []string
	for _, module := range slices.Sorted(maps.Keys(files)) {
		texts, found := map[string]string{}, false
		for _, file := range files[module] {
			text := must.Get(os.ReadFile(filepath.Join(file.root, file.name)))
			other := bytes.Replace(text, []byte("\n\t\"regexp\"\n"), []byte("\n\tregexp \""+lazyPath+"\"\n"), 1)
			texts[file.name], found = string(other), found || !bytes.Equal(other, text)
		}
		if !found || module == lazyPath {
			continue
		}
		lazy, texts["go.mod"] = append(lazy, module), "module "+module+"\n\ngo 1.24\n"
		for name, text := range texts {
			write(filepath.Join(dir, module, name), text)
		}
	}
	return lazy
}

// A source is a file of a library: the folder of its module, and its path in there.
type source struct{ root, name string }

// linked are the files of the third-party packages that the page links, by module.
func linked(mod string) map[string][]source {
	cmd := exec.Command("go", "list", "-modfile="+mod, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{range $.GoFiles}}"+
		`{{$.Module.Path}}{{"\t"}}{{$.Module.Dir}}{{"\t"}}{{$.Dir}}{{"\t"}}{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/envfix-page")
	cmd.Env, cmd.Stderr = wasmEnvironment(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		must.Do(fmt.Errorf("go list ./cmd/envfix-page: %w", err))
	}
	files := map[string][]source{}
	for line := range strings.Lines(string(out)) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		if len(field) != 4 {
			continue
		}
		name := must.Get(filepath.Rel(field[1], filepath.Join(field[2], field[3])))
		files[field[0]] = append(files[field[0]], source{field[1], name})
	}
	return files
}

func write(path, text string) {
	must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(os.WriteFile(path, []byte(text), 0o644))
}

func wasmEnvironment() []string {
	return append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
}
