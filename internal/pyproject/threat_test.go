package pyproject

import (
	"fmt"
	"strings"
	"testing"
)

// A project that a stranger wrote cannot keep envfix busy: what no project has is
// refused before it is gone through.
func TestThreat16ProjectFiles(t *testing.T) {
	keys := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	aliases := "a: &a [x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'n'; c++ {
		aliases += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 8), c-1)
	}
	for name, content := range map[string]string{
		"many keys":           keys("k%d: 1\n", 80_000),
		"many keys, below":    "dependencies:\n- {" + keys("k%d: 1, ", 40_000) + "}\n",
		"a thousand merges":   "a: &a {x: 1}\n" + keys("b%d: {<<: *a}\n", 20_000),
		"aliases that grow":   aliases + "dependencies: [*m]\n",
		"an alias of itself":  "dependencies: &a [*a]\n",
		"deep":                "dependencies: " + strings.Repeat("[", 500_000) + "\n",
		"deep, closed":        "dependencies: " + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + "\n",
		"deep mappings":       "dependencies: " + strings.Repeat("{a: ", 200_000) + "\n",
		"deep blocks":         "dependencies:\n" + strings.Repeat("- ", 400_000) + "\n",
		"larger than allowed": "name: " + strings.Repeat("x", maxFile),
	} {
		if _, err := ReadEnvironment([]byte(content), "environment.yml", nil); err == nil {
			t.Errorf("environment.yml, %s: no error", name)
		} else if len(err.Error()) > 500 {
			t.Errorf("environment.yml, %s: an error of %d bytes", name, len(err.Error()))
		}
	}
	for name, content := range map[string]string{
		"many requirements":         strings.Repeat("torch\n", 100_000),
		"a file that names itself":  "-r requirements.txt\n",
		"a line in 100,000 parts":   strings.Repeat("torch\\\n", 100_000),
		"a marker that opens":       "torch; " + strings.Repeat("(", 400_000),
		"a marker that goes on":     "torch; " + strings.Repeat("python_version > '3' and ", 40_000),
		"a list of specifiers":      "torch" + strings.Repeat(">1,", 200_000),
		"extras that open and open": "torch" + strings.Repeat("[", 400_000),
	} {
		opened := 0
		open := func(string) ([]byte, error) {
			opened++
			return []byte(content), nil
		}
		_, err := ReadRequirements([]byte(content), "requirements.txt", open)
		if err == nil {
			t.Errorf("requirements.txt, %s: no error", name)
		} else if len(err.Error()) > 500 {
			t.Errorf("requirements.txt, %s: an error of %d bytes", name, len(err.Error()))
		}
		if opened > mostFiles {
			t.Errorf("requirements.txt, %s: %d files were opened", name, opened)
		}
	}
	opened := 0
	fan := func(name string) ([]byte, error) { // each names the next one 50 times, and nine are not too deep
		opened++
		var n int
		if _, err := fmt.Sscanf(name, "%d.txt", &n); err != nil || n == 9 {
			return nil, err
		}
		return []byte(strings.Repeat(fmt.Sprintf("-r %d.txt\n", n+1), 50)), nil
	}
	if _, err := ReadRequirements([]byte("-r 1.txt\n"), "0.txt", fan); err == nil || opened > mostFiles {
		t.Errorf("files that name each other: %d were opened, %v", opened, err)
	}
	var groups strings.Builder // each includes the next one 50 times, and 18 are not too deep
	groups.WriteString("[dependency-groups]\ng18 = ['torch']\n")
	for i := range 18 {
		fmt.Fprintf(&groups, "g%d = [%s]\n", i, strings.Repeat(fmt.Sprintf("{include-group = 'g%d'}, ", i+1), 50))
	}
	for name, content := range map[string]string{
		"many requirements": "[project]\nname = 'x'\nversion = '1'\ndependencies = [" + strings.Repeat("'torch', ", 80_000) + "]\n",
		"many keys":         keys("k%d = 1\n", 80_000),
		"groups in groups":  groups.String(),
	} {
		if _, err := ReadProject([]byte(content), "pyproject.toml", "g0"); err == nil {
			t.Errorf("pyproject.toml, %s: no error", name)
		}
	}
}

// A table that is made of itself ends the reading of no setup.py.
func TestThreatSetupOfItself(t *testing.T) {
	for _, text := range []string{
		"info = {}\ninfo['package'] = info['package'] + info['line']\ninfo['line'] = info['package']\nsetup(install_requires=[info['package'], 'numpy'])\n",
		strings.Repeat("a = a\n", 100) + "setup(install_requires=['numpy'], extras_require=a)\n",
		"a = {'x': b['y']}\nb = {'y': a['x'], 'z': [a['q'], b['w']]}\nsetup(install_requires=b['z'] + b['y'] + ['numpy'])\n",
	} {
		if p, err := ReadSetup([]byte(text), "setup.py", nil); err != nil || !p.Asks("numpy") {
			t.Errorf("%v %v", p, err)
		}
	}
}
