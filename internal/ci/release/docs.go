package main

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"envfix/internal/ci/must"
	"envfix/internal/text"
)

// A doc is a file that comes beside the program.
type doc struct {
	name string // as in a download: man/envfix.1, completions/envfix.bash
	text []byte
}

// documents writes the man pages and completions by themselves.
func documents(r *Release) {
	for _, d := range r.docs() {
		r.write(d.name, d.text, 0o644)
	}
}

// docs are the man pages and completions, as the program itself prints them.
func (r *Release) docs() []doc {
	program := r.Program
	if program == "" {
		program = filepath.Join(r.Scratch, "envfix-here")
		target{runtime.GOOS, runtime.GOARCH}.build("./cmd/envfix", program, []string{"-tags", tags}, "CGO_ENABLED=0")
	}
	var out []doc
	for _, shell := range []string{"bash", "zsh", "fish"} {
		b := must.Get((&command{argv: []string{program, "completion", shell}}).output())
		out = append(out, doc{"completions/envfix." + shell, b})
	}
	return append(out, r.manPages(program)...)
}

// manPages are the help texts of the program and of each command.
func (r *Release) manPages(program string) []doc {
	help := output(program, "--help")
	about, _, _ := strings.Cut(help, "\n")
	_, about, _ = strings.Cut(about, " ") // "envfix gets PyTorch …"
	out := []doc{{"man/envfix.1", r.manPage("envfix", about, help)}}
	for _, name := range commandsIn(help) {
		text := output(program, name, "--help")
		head, _, _ := strings.Cut(text, "\n\n")
		_, about, _ := strings.Cut(strings.Join(strings.Fields(head), " "), ": ")
		out = append(out, doc{"man/envfix-" + name + ".1", r.manPage("envfix-"+name, about, text)})
	}
	return out
}

var commandRow = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)

// commandsIn are the commands that the program's help lists before its flags.
func commandsIn(help string) []string {
	before, _, _ := strings.Cut(help, "\nFLAGS\n")
	return text.Each(commandRow.FindAllStringSubmatch(before, -1), func(m []string) string { return m[1] })
}

var heading = regexp.MustCompile(`^[A-Z][A-Z ,()a-z]*$`)

// manPage sets a help text as a man page: its headings become sections, the rest
// stays as it is printed.
func (r *Release) manPage(name, about, help string) []byte {
	var b strings.Builder
	b.WriteString(`.TH "` + strings.ToUpper(name) + `" 1 "` + r.Time.Format("2006-01-02") + `" "envfix ` + r.Version.release + `" "envfix"` + "\n")
	b.WriteString(".SH NAME\n" + name + ` \- ` + roff(about) + "\n.SH DESCRIPTION\n.nf\n")
	for line := range strings.SplitSeq(help, "\n") {
		if heading.MatchString(line) && strings.ToUpper(firstWord(line)) == firstWord(line) {
			b.WriteString(".fi\n.SH " + line + "\n.nf\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
	return []byte(b.String())
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

// roff keeps a line as it is: a backslash, and a dot or quote at its beginning,
// would be commands; a plain dash would become a hyphen.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
