package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asked starts `envfix mcp` as a client of the protocol does.
func asked(t *testing.T, flags ...string) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "someones-home")
	if err := os.MkdirAll(filepath.Join(home, ".venv"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"mcp"}, flags...)...)
	cmd.Args[0] = "envfix"
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "ENVFIX_NVML=off", "ENVFIX_TODAY=2026-11-21", "LD_LIBRARY_PATH="+home+"/lib", "SOME_TOKEN=correct-horse-battery")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("envfix mcp did not end in order: %v", err)
		}
	})
	return session
}

// tool calls a tool and returns the text of its answer.
func tool(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	if n := strings.Count(b.String(), "\n"); n > 64 {
		t.Errorf("%s: an answer of %d lines is more than a screen", name, n)
	}
	return b.String(), r.IsError
}

func TestMCP(t *testing.T) {
	s := asked(t)
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range list.Tools {
		names = append(names, l.Name)
		if l.InputSchema == nil || l.Annotations == nil || !l.Annotations.ReadOnlyHint || l.Description == "" {
			t.Errorf("%s has no schema, no description, or does not say that it only reads", l.Name)
		}
	}
	if got := strings.Join(names, " "); got != "doctor explain facts matrix plan why" {
		t.Errorf("tools: %s", got)
	}
	v100 := map[string]any{"gpu": []string{"V100"}, "driver": "580.95.05", "os": "linux", "arch": "x86_64", "libc": "glibc-2.36", "python": "3.12"}
	with := func(key string, value any) map[string]any {
		out := map[string]any{key: value}
		for k, v := range v100 {
			out[k] = v
		}
		return out
	}
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"facts", nil, "System"},
		{"plan", v100, "To carry it out, a person types on that machine: envfix apply --python 3.12"},
		{"plan", v100, "build cu126"},
		{"plan", map[string]any{"python": "3.12", "manager": "pip", "requirements": "torch"}, "a person types: envfix apply --python 3.12 --manager pip torch"},
		{"plan", map[string]any{"gpu": "RTX 4060 Laptop", "os": "windows"}, "a person types on that machine: envfix apply\n"},
		{"explain", map[string]any{"text": "DRV005"}, "DRV005:"},
		{"why", with("requirement", "torch==2.15.0"), "no code for V100"},
		{"explain", map[string]any{"text": "Torch not compiled with CUDA enabled"}, "CPU-only build"},
		{"doctor", map[string]any{"text": "RuntimeError: CUDA error: no kernel image is available for execution on the device"}, "no code for"},
		{"matrix", map[string]any{"torch": "2.9.1", "os": "linux"}, "cu126"},
	} {
		if got, failed := tool(t, s, test.tool, test.arguments); failed || !strings.Contains(got, test.want) {
			t.Errorf("%s %v answers (error %v), without %q:\n%s", test.tool, test.arguments, failed, test.want, got)
		}
	}
	for _, bad := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"plan", map[string]any{"requirements": []string{"--out=stolen"}}},
		{"plan", map[string]any{"driver": "--out"}},
		{"plan", map[string]any{"requirements": []string{"http://127.0.0.1:1/o/r"}}},
		{"plan", map[string]any{"requirements": []string{"github:o/r"}}},
		{"plan", map[string]any{"requirements": []string{"foo @ http://127.0.0.1:1/foo-1-py3-none-any.whl"}}},
		{"plan", map[string]any{"requirements": []string{"."}}},
		{"why", map[string]any{"requirement": "../other"}},
		{"why", map[string]any{"requirement": "--facts"}},
		{"matrix", map[string]any{"os": "-v"}},
		{"why", map[string]any{}},
		{"plan", map[string]any{"gpu": 7}},
		{"plan", map[string]any{"gpu": []string{"RTX9090"}}},
		{"matrix", map[string]any{"torch": "99"}},
		{"apply", nil},
	} {
		if got, failed := tool(t, s, bad.tool, bad.arguments); !failed || strings.Contains(got, "To carry it out") {
			t.Errorf("%s %v was answered:\n%s", bad.tool, bad.arguments, got)
		}
	}
}

// Beside the text stand the facts, the findings and the lines that they were seen in.
func TestMCPParts(t *testing.T) {
	s := asked(t)
	for tool, want := range map[string]string{"doctor": `"evidence":["line 2: torch 2.9.1+cpu"`, "explain": `"cause":"torch_cpu_wheel"`} {
		r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{
			"text": "torch.cuda.is_available() False\ntorch 2.9.1+cpu\nAssertionError: Torch not compiled with CUDA enabled\n"}})
		if err != nil {
			t.Fatal(err)
		}
		parts, err := json.Marshal(r.StructuredContent)
		if err != nil || !strings.Contains(string(parts), want) {
			t.Errorf("%s: no %s in %s %v", tool, want, parts, err)
		}
	}
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "doctor"})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := json.Marshal(r.StructuredContent)
	if err != nil || !strings.Contains(string(parts), `"facts"`) || strings.Contains(string(parts), "someones-home") {
		t.Errorf("this machine: %s %v", parts, err)
	}
}

func TestMCPHidesPaths(t *testing.T) {
	hidden, _ := tool(t, asked(t), "facts", nil)
	shown, _ := tool(t, asked(t, "--show-paths"), "facts", nil)
	if strings.Contains(hidden, "someones-home") || !strings.Contains(hidden, "~/lib") {
		t.Errorf("a path below home is told:\n%s", hidden)
	}
	if !strings.Contains(shown, "someones-home/lib") {
		t.Errorf("--show-paths hides a path:\n%s", shown)
	}
	if strings.Contains(hidden+shown, "correct-horse-battery") {
		t.Error("a token is told")
	}
}

// A client that pipes its requests in and closes gets every answer, whatever stands
// between them.
func TestMCPEnd(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "mcp")
	cmd.Args[0] = "envfix"
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
not json

{"id":7,"method":"ping"}
["none",{"jsonrpc":"2.0","id":8,"method":"ping"}]
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain","arguments":{"text":"Torch not compiled with CUDA enabled"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"explain","arguments":{"text":"DRV005"}}}
`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, id := range []string{`"id":1,`, `"id":2,`, `"id":3,`, `"id":8,`, `"id":null,"error":{"code":-32700,`, `"id":null,"error":{"code":-32600,`, `"id":7,"error":{"code":-32600,`} {
		if !strings.Contains(string(out), id) {
			t.Errorf("no answer with %s in\n%s", id, out)
		}
	}
}
