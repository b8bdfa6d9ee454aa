package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// helpers are where an administrator puts a program that only root can change.
var helpers = []string{"/usr/local/libexec/envfix", "/usr/local/bin/envfix", "/usr/local/sbin/envfix", "/usr/bin/envfix"}

// sameProgram reports whether a file holds what this program is.
func sameProgram(self string) func(path string) bool {
	return func(path string) bool {
		_, a, err := system.FileSum(self)
		_, b, err2 := system.FileSum(path)
		return err == nil && err2 == nil && a == b
	}
}

// ViaSudo runs steps for root by this program under sudo; tell hears whom that trusts.
func ViaSudo(sudo string, tell io.Writer) Rooter {
	said := false
	return func(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		self, own, err := system.Helper(self, helpers, sameProgram(self))
		if err != nil {
			return fail.New(fail.Privilege, text.Escape(err.Error()),
				"`sudo install -D -m 755 $(command -v envfix) /usr/local/bin/envfix` makes a copy that only root can change")
		}
		if own && !said {
			said = true
			fmt.Fprintf(tell, "envfix: note: root's steps are given to %s, which you can change, and so can what runs as you; "+
				"`sudo install -D -m 755 %s /usr/local/bin/envfix` makes a copy that only root can\n", text.Escape(self), text.Escape(self))
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return system.Run(ctx, system.Command{Argv: []string{sudo, "-n", "--", self, "__root"}, Stdin: b, Patient: true, Out: out, Log: log})
	}
}
