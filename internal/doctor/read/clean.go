package read

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"envfix/internal/lazy"
)

var (
	escapes = lazy.Regexp("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\-_])")
	htmlTag = lazy.Regexp(`</?(?:pre|code|p|br|div|span|details|summary|blockquote|li|ul|ol|td|tr|th|table|` +
		`tbody|b|i|em|strong|samp|kbd|tt|hr|h[1-6]|a|img)\b[^<>]{0,200}/?>`)
	quoted   = lazy.Regexp(`^\s*(?:>\s?)+`)
	prompted = lazy.Regexp(`^\s*(?:>>>|\.\.\.|\$|#|%|❯|In \[\d*\]:|Out\[\d*\]:|PS [A-Za-z]:[^>]{0,120}>|` +
		`[A-Za-z]:\\[^>]{0,120}>|(?:\([\w.-]+\) )*[\w.-]+@[\w.-]+[:~ ][^$#%]{0,120}[$#%]|\([\w.-]+\) ?[$#%>]?)\s+`)
	source = lazy.Regexp(`^\s*(?:(?:→|->|>)?\s*\d+\s*[│|:]?\s*)?(?:(?:raise|throw(?: new)?) [\w.:]+\(|` +
		`return (?:fmt\.Errorf|errors\.New)\(|(?:\w+(?:\.|->|::))*(?:warn|warning|print|f?printf|nv_printf|` +
		`println|TORCH_\w+|WARN|log|info|debug|error|fatal|fatalf|Errorf)\((?:\w+, ?)?)[fFrRbBuL]{0,2}["'` + "`" + `]`)
	step     = lazy.Regexp(`^\s*Step \d+/\d+ : |^\s*(?:=> .{0,30}\] )?RUN `)
	service  = lazy.Regexp(`^[\w.-]+[-_]\d+ *$`) // what docker compose puts before a line: whose container it is of
	escaped  = lazy.Regexp(`\\+(["'])`)
	entities = strings.NewReplacer(
		"&gt;", ">", "&lt;", "<", "&amp;", "&", "&quot;", `"`, "&#39;", "'", "&#x27;", "'", "&nbsp;", " ",
		"&apos;", "'",
	)
	marks = strings.NewReplacer(
		"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u00a0", " ", "\u200b", "", "\u200c",
		"", "\u200d", "", "\ufeff", "", "\u2011", "-", "\u2013", "-", "\u2212", "-",
	)
)

// clean removes what terminals, mail and forums put around a line: escape
// sequences, what a carriage return wrote over, quote marks, HTML tags and
// entities, typographic and escaped quotes, control characters. Box drawing and
// leading blanks stay; they carry the shape of tables.
func clean(l string) string {
	if at := strings.Index(l, " | "); at > 0 && at < 64 && service().MatchString(l[:at]) {
		l = l[at+3:]
	}
	if plain(l) {
		return strings.TrimRight(l, " \t")
	}
	if strings.IndexByte(l, 0x1b) >= 0 {
		l = escapes().ReplaceAllString(l, "")
	}
	if i := strings.LastIndexByte(strings.TrimRight(l, "\r"), '\r'); i >= 0 {
		l = l[i+1:]
	}
	if strings.IndexByte(l, '>') >= 0 {
		if q := quoted().FindString(l); q != "" && !strings.HasPrefix(strings.TrimSpace(l), ">>>") {
			l = l[len(q):]
		}
		if strings.IndexByte(l, '<') >= 0 {
			l = htmlTag().ReplaceAllString(l, "")
		}
	}
	if strings.IndexByte(l, '&') >= 0 {
		l = entities.Replace(l)
	}
	l = marks.Replace(l)
	if strings.IndexByte(l, '\\') >= 0 {
		l = escaped().ReplaceAllString(l, "$1")
	}
	l = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r == 0x7f, r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.Is(unicode.Cc, r):
			return -1
		}
		return r
	}, l)
	return strings.TrimRight(l, " ")
}

// plain reports whether a line needs no cleaning.
func plain(l string) bool {
	for i := range len(l) {
		switch c := l[i]; {
		case c < 0x20, c > 0x7e, c == '>', c == '<', c == '&':
			return false
		case (c == '"' || c == '\'') && i > 0 && l[i-1] == '\\':
			return false
		}
	}
	return true
}

// tongues are what glibc, bash and apt say in the words of a language: by their codes, files and names, with
// what they say in English. Source: their catalogs of messages (libc, bash, apt) in German, French, Japanese, Russian.
var tongues = []struct {
	form    func() *regexp.Regexp
	english string
}{
	{lazy.Regexp(`(\[Errno 12\]) [^:]+`), "$1 Cannot allocate memory"},
	{lazy.Regexp(`(\[Errno 13\]) [^:]+`), "$1 Permission denied"},
	{lazy.Regexp(`^((?:Import|OS)Error: |.*loading shared libraries: )(lib[\w.+-]+\.so[\w.]*): [^:]+: [^:]+$`),
		"${1}${2}: cannot open shared object file: No such file or directory"},
	{lazy.Regexp(`^(-?bash: )(?:\S+ \d+ ?: )?([\w.+-]+) ?: [^:]+$`), "${1}${2}: command not found"},
	{lazy.Regexp(`^E: [^/]* (/var/lib/(?:dpkg|apt)/[\w./-]*lock[\w-]*)\b.*`), "E: Could not get lock $1"},
	{lazy.Regexp(`^E: [^:/]* ((?:lib)?(?:nvidia|cuda)[\w.-]*\w)[^:/]*$`), "E: Unable to locate package $1"},
}

// noProgram is how zsh, fish, which, dash, cmd, PowerShell, Ubuntu's command-not-found and env say that there is no such
// program: all is read as bash's words. Source: their own messages.
var noProgram = lazy.Regexp(`(?:\bzsh: command not found: |\bfish: Unknown command:? '?|\bwhich: no )([\w.+-]+)'?|` +
	`(?:\bsh: (?:\d+: )?|\bThe term '|^'|\bCommand ['` + "`" + `]|\benv: '?)([\w.+-]+)['` + "`" + `]?(?:: not found\b| not found\b|` +
	` is not recognized as (?:an internal|(?:a|the) name)\b|: No such file or directory)`)

// inEnglish is what is left of a line that needs no translation.
var inEnglish = lazy.Regexp(`(?i)\b(?:cannot|could|unable|fail(?:s|ed)?|not|denied|shared object|file|symbol|package|version|memory|is|has|the)\b`)

// english is a line with such words as in English.
func english(l string) string {
	within := func(mark string) bool { return strings.Contains(l, mark) }
	if slices.ContainsFunc([]string{"not found", "nknown command", "which: no ", "' is not recognized", "env: "}, within) {
		l = noProgram().ReplaceAllString(l, "bash: ${1}${2}: command not found")
	}
	if (strings.HasPrefix(l, "E: ") || slices.ContainsFunc([]string{"bash: ", "[Errno 1", ".so"}, within)) && !inEnglish().MatchString(l) {
		for _, t := range tongues {
			l = t.form().ReplaceAllString(l, t.english)
		}
	}
	return l
}

// unprompt removes a shell's or Python's prompt.
func unprompt(l string) string {
	return strings.TrimSpace(l[len(prompted().FindString(l)):])
}

// clip cuts a text to n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// isSource reports whether a line is a statement of a program that would print
// what stands in its quotes, as a traceback or a search through code shows it:
// that the program holds a message does not mean that it was printed.
func isSource(l string) bool { return source().MatchString(l) }

// isStep reports whether a line is a step of a Dockerfile, which asks for what a message would miss.
func isStep(l string) bool { return step().MatchString(l) }
