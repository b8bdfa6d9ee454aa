package text

import (
	"fmt"
	"strings"
	"testing"
)

func TestThreat16TOMLBombs(t *testing.T) {
	many := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(form, "N", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, bad := range map[string]string{
		"keys":               many("kN = 1\n", 80_000),
		"keys of a table":    "[a]\n" + many("kN = 1\n", 80_000),
		"keys of one line":   "a = {" + many("kN = 1, ", 80_000) + "}\n",
		"keys between rows":  "a = {" + many("kN = [\n[\"x\"]\n], ", 40_000) + "}\n",
		"keys in their rows": "a = [\n" + many("{kN = 1},\n[ ],\n", 40_000) + "]\n",
		"tables":             many("[tN]\n", 80_000),
		"one table, again":   many("[[t]]\n", 80_000),
		"a dotted name":      "a" + strings.Repeat(".a", 300_000) + " = 1\n",
		"a dotted header":    "[a" + strings.Repeat(".a", 300_000) + "]\nb = 1\n",
		"a dotted name, low": "[x]\n  y = {" + strings.Repeat("a.", 500) + "a = 1}\n",
		"deep lists":         "a = " + strings.Repeat("[", 300_000) + strings.Repeat("]", 300_000) + "\n",
		"deep tables":        "a = " + strings.Repeat("{a = ", 300_000) + "1\n",
	} {
		if err := BoundTOML([]byte(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, good := range map[string]string{
		"nothing":            "",
		"brackets in texts":  "a = '" + strings.Repeat("[", 200) + "'\nb = \"\\\"" + strings.Repeat("{", 200) + "\"\nc = '''\n" + strings.Repeat("[\n", 200) + "'''\n# " + strings.Repeat("[=", 20_000) + "\n",
		"dots in texts":      "a = \"" + strings.Repeat(".", 500) + "\"\n" + many("v = [1.5, 2.5, 3.5]\n", 100),
		"a lock":             many("[[package]]\nname = \"pN\"\nwheels = [\n    { url = \"https://x.example/pN-1.0.whl\", hash = \"sha256:00\" },\n]\n\n[package.metadata]\nrequires = []\n", 4000),
		"a list of packages": "[project]\ndependencies = [\n" + many("  \"pN==1.0.*\",\n", 20_000) + "]\n",
		"an unended text":    "a = \"x",
		"no TOML":            "\x00\xff]]}}= = =",
	} {
		if err := BoundTOML([]byte(good)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
