package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"envfix/internal/cmdline"
	"envfix/internal/mcpserver"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/urfave/cli/v2"
)

func mcpCommand() *cli.Command {
	return declared("mcp", cmdline.Taking(0, func(c *cli.Context) error {
		o := mcpserver.Options{Version: buildVersion, Run: runSelf, Hide: hider()}
		if c.Bool("show-paths") {
			o.Hide = nil
		}
		err := mcpserver.New(o).Run(c.Context, mcpserver.Stdio(os.Stdin, toClient{stdout()}))
		if errors.Is(err, mcp.ErrConnectionClosed) {
			return nil
		}
		return err
	}))
}

// toClient is the way to the client; it closes as the program ends.
type toClient struct{ io.Writer }

func (toClient) Close() error { return nil }

// runSelf runs a command of this program in a process of its own: it prints to its
// standard output, and here that speaks the protocol. What prints no answer has refused.
func runSelf(ctx context.Context, stdin string, args ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = filepath.Base(os.Args[0])
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &problems
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return "", err
	}
	if out.Len() == 0 {
		return "", errors.New(ui.CleanLines(problems.String()))
	}
	return out.String(), nil
}

// hider takes out of a text what tells who and where somebody is.
func hider() func(string) string {
	secrets := text.Secrets(os.Environ())
	var pairs []string
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		pairs = append(pairs, home, "~")
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		pairs = append(pairs, host, "HOST")
	}
	if u, err := user.Current(); err == nil && len(u.Username) > 2 && u.Username != "root" {
		pairs = append(pairs, u.Username, "USER")
	}
	names := strings.NewReplacer(pairs...)
	return func(s string) string { return text.Redact(names.Replace(s), secrets...) }
}
