// Package mcpserver answers programs that speak the Model Context Protocol, such as
// assistants in an editor: what this machine is, what fits it, and why. Its tools
// only read; what would change something is named as a command for a person to type.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Runner runs one command of envfix and returns what it printed on standard output. Where
// that is nothing, the command refused, and its error is what it said instead.
type Runner func(ctx context.Context, stdin string, args ...string) (string, error)

// Options are what the server is started with.
type Options struct {
	Version string
	Run     Runner
	Hide    func(string) string // takes out what is nobody else's business; nil: nothing
}

// New returns the server with all its tools.
func New(o Options) *mcp.Server {
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	s := mcp.NewServer(
		&mcp.Implementation{Name: "envfix", Title: "envfix: PyTorch on the GPU that is there", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: "Ask doctor or explain when torch does not use the GPU, plan before anything is installed. Nothing here changes the machine: show the person the command that plan names.",
		},
	)
	s.AddReceivingMiddleware(cleaned)
	add(
		s,
		o,
		"facts",
		"What this machine is: GPUs, compute capability, driver, Pythons, installed packages.",
		func(struct{}) (call, error) { return call{args: []string{"facts"}}, nil },
	)
	add(
		s,
		o,
		"plan",
		"The driver, CUDA and PyTorch combination that runs on this machine, or on one that is described, with reasons, steps and the command that carries them out.",
		plan,
	)
	add(s, o, "why", "Why a build of torch is right or refused on a machine, and what would have to change.", why)
	add(
		s,
		o,
		"doctor",
		"What is wrong with this machine or environment, root cause first; or with pasted output (collect_env, nvidia-smi, pip list, a traceback).",
		doctor,
	)
	add(s, o, "explain", "What an error message of torch, CUDA or an installer means, and what to do.", explain)
	add(s, o, "matrix", "What is known of a torch release: its builds, CUDA versions, driver floors and the GPUs each has code for.", show)
	return s
}

// cleaned writes out what could act on a terminal, in answers and in errors: the library's
// own quote what was asked as it came.
func cleaned(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.CallToolResult); ok && r != nil {
			for _, c := range r.Content {
				if t, ok := c.(*mcp.TextContent); ok {
					t.Text = text.EscapeLines(t.Text)
				}
			}
		}
		if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) {
			err = &jsonrpc.Error{Code: wire.Code, Message: text.Escape(wire.Message), Data: wire.Data}
		}
		return result, err
	}
}

// A Machine describes one that is not here; each field replaces what was found.
type Machine struct {
	GPU    list   `json:"gpu,omitempty"    jsonschema:"GPU names or compute capabilities, such as RTX 5090 or 7.0"`
	Driver string `json:"driver,omitempty" jsonschema:"driver version such as 580.95.05, or none"`
	OS     string `json:"os,omitempty"     jsonschema:"linux, windows or macos"`
	Arch   string `json:"arch,omitempty"   jsonschema:"x86_64, aarch64 or arm64"`
	Libc   string `json:"libc,omitempty"   jsonschema:"such as glibc-2.31"`
	Python string `json:"python,omitempty" jsonschema:"such as 3.12"`
}

// A list is written as one, or, of one thing, as that.
type list []string

// UnmarshalJSON reads a list of strings or a string.
func (l *list) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*l = list{""}
		return json.Unmarshal(b, &(*l)[0])
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// lists is how a schema says that.
var lists = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[list](): {Types: []string{"array", "string"}, Items: &jsonschema.Schema{Type: "string"}}}}

// A PlanInput is what plan is asked.
type PlanInput struct {
	Machine
	Requirements list   `json:"requirements,omitempty" jsonschema:"such as torch==2.9.*; none: torch and torchvision"`
	Manager      string `json:"manager,omitempty"      jsonschema:"uv, pip, conda, mamba, micromamba, pixi or poetry"`
}

// A WhyInput is what why is asked.
type WhyInput struct {
	Machine
	Requirement string `json:"requirement" jsonschema:"such as torch==2.15.0 or torch==2.9.1+cu126"`
}

// A DoctorInput is pasted output, or nothing for this machine.
type DoctorInput struct {
	Text string `json:"text,omitempty" jsonschema:"pasted output; nothing of this machine is read then"`
}

// An ExplainInput is a message.
type ExplainInput struct {
	Text string `json:"text" jsonschema:"the message, or the log around it"`
}

// A MatrixInput names a release.
type MatrixInput struct {
	Torch string `json:"torch,omitempty" jsonschema:"such as 2.9.1; none: every release in one line"`
	OS    string `json:"os,omitempty"    jsonschema:"linux, windows or macos"`
}

// A call is a command line that a tool runs.
type call struct {
	args  []string
	stdin string
	after string // a line for the end of the answer
	parts bool   // its JSON is short, and goes beside the text: facts, findings, sources
}

// flag adds a flag where it has a value.
func (c *call) flag(name, value string) {
	if value != "" {
		c.args = append(c.args, name, value)
	}
}

func (c *call) describe(m Machine) {
	for _, g := range m.GPU {
		c.flag("--gpu", g)
	}
	c.flag("--driver", m.Driver)
	c.flag("--os", m.OS)
	c.flag("--arch", m.Arch)
	c.flag("--libc", m.Libc)
	c.flag("--python", m.Python)
}

// checked refuses values that a command line would take for a flag: a tool that only
// reads must not be talked into --out FILE.
func checked(values ...string) error {
	for _, v := range values {
		if strings.HasPrefix(v, "-") || strings.ContainsAny(v, "\n\x00") {
			return fmt.Errorf("%q is no value for this tool", v)
		}
	}
	return nil
}

// named refuses requirements by an address or a path: whoever writes an argument would
// have this machine ask a server of theirs, or read another project.
func named(requirements ...string) error {
	for _, r := range requirements {
		if strings.ContainsAny(r, `/\@:`) || strings.HasPrefix(r, ".") {
			return fmt.Errorf("%q: a requirement is a name here, with versions: no address and no folder", r)
		}
	}
	return checked(requirements...)
}

func (m Machine) check() error {
	return errors.Join(checked(m.GPU...), checked(m.Driver, m.OS, m.Arch, m.Libc, m.Python))
}

func plan(in PlanInput) (call, error) {
	c := call{args: []string{"plan"}}
	c.describe(in.Machine)
	c.flag("--manager", in.Manager)
	c.args = append(c.args, in.Requirements...)
	apply := call{args: []string{"apply"}} // what describes a machine is not said to the machine itself
	apply.flag("--python", in.Python)
	apply.flag("--manager", in.Manager)
	where := say.If(len(in.GPU) > 0 || in.Driver+in.OS+in.Arch+in.Libc != "", " on that machine")
	c.after = "To carry it out, a person types" + where + ": envfix " + text.Command(append(apply.args, in.Requirements...)...)
	return c, errors.Join(in.check(), checked(in.Manager), named(in.Requirements...))
}

func why(in WhyInput) (call, error) {
	c := call{args: []string{"why", in.Requirement}}
	c.describe(in.Machine)
	return c, errors.Join(in.check(), named(in.Requirement))
}

func doctor(in DoctorInput) (call, error) {
	if in.Text == "" {
		return call{args: []string{"doctor"}, parts: true}, nil
	}
	return call{args: []string{"doctor", "--from", "-"}, stdin: in.Text, parts: true}, nil
}

func explain(in ExplainInput) (call, error) {
	if one := strings.Fields(in.Text); len(one) == 1 && checked(one[0]) == nil { // it may be the id of a check
		return call{args: []string{"explain", one[0]}, parts: true}, nil
	}
	return call{args: []string{"explain"}, stdin: in.Text, parts: true}, nil
}

func show(in MatrixInput) (call, error) {
	c := call{args: []string{"matrix", "show"}}
	if in.Torch != "" {
		c.args = append(c.args, "torch=="+in.Torch)
	}
	c.flag("--os", in.OS)
	return c, checked(in.Torch, in.OS)
}

// screen is how many lines an answer has at most.
const screen = 60

// add puts a tool into the server. A command that found something wrong exits with
// another code than 0 and has printed what: that is an answer, and no error; one that
// printed none refused.
func add[In any](s *mcp.Server, o Options, name, about string, command func(In) (call, error)) {
	closed := false
	input, err := jsonschema.For[In](lists)
	if err != nil {
		panic(err) // a type above that is none of JSON's
	}
	tool := &mcp.Tool{Name: name, Description: about, InputSchema: input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		c, err := command(in)
		if err != nil {
			return nil, nil, err
		}
		said, err := o.Run(ctx, c.stdin, c.args...)
		if err != nil {
			return nil, nil, errors.New(o.Hide(err.Error()))
		}
		said, c.after = o.Hide(said), o.Hide(c.after)
		said = oneScreen(said, "envfix "+text.Command(c.args...))
		said += say.With("\n", c.after, "\n")
		out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}
		if c.parts {
			parts, err := o.Run(ctx, c.stdin, append(c.args, "--json")...)
			if parts = o.Hide(parts); err == nil && json.Valid([]byte(parts)) {
				out.StructuredContent = json.RawMessage(parts)
			}
		}
		return out, nil, nil
	})
}

// oneScreen keeps the beginning of a text, and says how the rest is to be had.
func oneScreen(text, command string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= screen {
		return text
	}
	return strings.Join(lines[:screen], "") + fmt.Sprintf("… %d more lines: `%s`\n", len(lines)-screen, command)
}
