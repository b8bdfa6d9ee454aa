package main

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/net/html"
	"gopkg.in/yaml.v3"
	"mvdan.cc/sh/v3/syntax"
)

// inForm has the target's own parser read a text, and looks for the mark where it would be
// more than a text: a key, a command, an element, an instruction.
func inForm(t testing.TB, form, text string) {
	t.Helper()
	bad := ""
	switch strings.ToLower(strings.TrimPrefix(form, "Export")) {
	case "json", "devcontainer", "devcontainerfolder":
		bad = inTree(json.Unmarshal, text)
	case "conda", "kubernetes", "ray", "sky", "dstack", "cloud-init", "cloudinit", "sarif":
		bad = inTree(yaml.Unmarshal, text)
	case "uv", "toml":
		bad = inTree(toml.Unmarshal, text)
	case "sh":
		bad = inPOSIX(text)
	case "ps1":
		bad = inPowerShell(text)
	case "html":
		bad = inHTML(text)
	case "dockerfile":
		bad = ofLines(text, `^(#.*|ARG .*|FROM .*|RUN .*|COPY .*|ENV .*|WORKDIR .*|USER .*|SHELL .*|LABEL .*|CMD .*|ENTRYPOINT .*| .*|)$`)
	case "requirements":
		bad = ofLines(text, `^(#.*|[a-z0-9][a-z0-9._-]* ?(==|@) ?.*| +.*|--.*|)$`)
	}
	if bad != "" {
		t.Fatalf("as %s: %s\n%s", form, bad, text)
	}
}

func inTree(decode func([]byte, any) error, text string) string {
	var tree any
	if err := decode([]byte(text), &tree); err != nil {
		return err.Error()
	}
	bad := ""
	var walk func(v any, key bool)
	walk = func(v any, key bool) {
		switch v := v.(type) {
		case string:
			if key && strings.TrimSpace(v) == mark {
				bad = "a key " + v
			}
		case []any:
			for _, e := range v {
				walk(e, false)
			}
		case map[string]any:
			for k, e := range v {
				walk(k, true)
				walk(e, false)
			}
		}
	}
	walk(tree, false)
	return bad
}

// inPOSIX refuses a text in which the mark is a command, is expanded, or stands in a
// redirection; within a word of quotes it is one.
func inPOSIX(text string) string {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err.Error()
	}
	bad := ""
	holds := func(n syntax.Node) bool {
		var b bytes.Buffer
		return syntax.NewPrinter().Print(&b, n) == nil && strings.Contains(b.String(), mark)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if holds(n) && strings.Contains(text, "$("+mark) {
				bad = "it is run"
			}
		case *syntax.ParamExp:
			if n.Param != nil && strings.Contains(n.Param.Value, mark) {
				bad = "it is expanded"
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && strings.TrimSpace(n.Args[0].Lit()) == mark {
				bad = "it is a command"
			}
		}
		return true
	})
	return bad
}

// inPowerShell reads strings and comments as PowerShell does, and looks for the mark in the
// rest, and in strings in which names are expanded.
func inPowerShell(text string) string {
	single := "'\u2018\u2019\u201a\u201b"
	code := []rune(text)
	rest := ""
	for i := 0; i < len(code); i++ {
		end := ""
		switch c := code[i]; {
		case c == '#' && (i == 0 || strings.ContainsRune(" \t\n(){};|", code[i-1])):
			for i+1 < len(code) && code[i+1] != '\n' {
				i++
			}
			continue
		case strings.ContainsRune(single, c):
			end = single
		case c == '"':
			end = "\"\u201c\u201d\u201e"
		}
		if end == "" {
			rest += string(code[i])
			continue
		}
		for i++; i < len(code); i++ {
			quote := strings.ContainsRune(end, code[i])
			if quote && (i+1 == len(code) || !strings.ContainsRune(end, code[i+1])) {
				break
			}
			if quote || end != single && code[i] == '`' {
				i++
			} else if end != single {
				rest += string(code[i])
			}
		}
	}
	if i := strings.Index(rest, mark); i >= 0 {
		return "outside of a string: " + rest[max(0, i-80):min(len(rest), i+40)]
	}
	return ""
}

func inHTML(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	code := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() == io.EOF {
				return ""
			}
			return z.Err().Error()
		case html.TextToken:
			if code && strings.Contains(string(z.Text()), mark) {
				return "in a script or a style"
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			code = token.Data == "script" || token.Data == "style"
			if strings.Contains(strings.ToUpper(token.Data), mark) {
				return "an element " + token.Data
			}
			for _, a := range token.Attr {
				if strings.Contains(strings.ToUpper(a.Key), mark) || strings.HasPrefix(a.Key, "on") && strings.Contains(a.Val, mark) {
					return "an attribute " + a.Key
				}
			}
		case html.EndTagToken:
			code = false
		}
	}
}

func ofLines(text, form string) string {
	line := regexp.MustCompile(form)
	for _, l := range strings.Split(text, "\n") {
		if !line.MatchString(l) {
			return "a line " + l
		}
	}
	return ""
}
