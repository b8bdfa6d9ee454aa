package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func factsAction(c *cli.Context) error {
	m := thisMachine(c.Context, c.String("env"), true)
	if c.Bool("anonymize") {
		m = m.Anonymize(ownWords()...)
	}
	if c.IsSet("host") && !c.Bool("class") {
		return fail.Wrong("`--host` is for `--class`", "`envfix facts --class --host NAME`")
	}
	if c.Bool("at") && !c.Bool("class") {
		return fail.Wrong("`--at` is for `--class`", "`envfix facts --class --at`")
	}
	if c.Bool("class") {
		line := m.ClassLine()
		if c.Bool("at") {
			line = append([]byte(`{"at":"`+time.Now().UTC().Format("2006-01-02T15:04:05Z")+`",`), line[1:]...)
		}
		_, err := stdout().Write(append(fleet.Named(line, c.String("host")), '\n'))
		return err
	}
	if c.Bool("json") {
		_, err := stdout().Write(m.Encode())
		return err
	}
	_, err := fmt.Fprint(stdout(), ui.Facts(m, c.Bool("verbose"), style(stdout())))
	return err
}

// ownWords are the words that tell whose machine this is.
func ownWords() []string {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	words := []string{host, short}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) != "/" {
		words = append(words, home)
	}
	if u, err := user.Current(); err == nil && u.Username != "root" {
		words = append(words, u.Username)
	}
	return words
}
