package text

import (
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
)

// The names that a credential goes by, in options, variables, queries and files,
// and what may follow: a token is one, --max-tokens and --tokenizer are none.
const secretWords = `(?:token|password|passwd|passphrase|pwd|secret|signature|credentials?|api[_-]?key|access[_-]?key|private[_-]?key)(?:[_-][a-z0-9_-]*)?`

var (
	// Everything up to the last @ before a path: a password may hold an @.
	userinfo = lazy.Regexp(`//[^/\s"'<>]*@`)
	assigned = lazy.Regexp(`(?i)(` + secretWords + `["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s&#"']+)`)
	bearer   = lazy.Regexp(`(?i)(authorization["']?\s*[:=]\s*["']?(?:\w+\s+)?)[^\s"']+`)
	// Tokens that show what they are by how they begin: of Hugging Face, GitHub, GitLab,
	// OpenAI and others, AWS, Slack, Weights & Biases' keys go by their names.
	known = lazy.Regexp(`\b(hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[baprs]-|AKIA|nvapi-)[A-Za-z0-9_-]{16,}`)
	// An option whose value is the next word: `--token X`.
	option         = lazy.Regexp(`(?i)((?:^|\s)--?[a-z0-9_-]*` + secretWords + `\s+)("[^"]*"|'[^']*'|[^\s-]\S*)`)
	secretVariable = lazy.Regexp(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)`)
	secretName     = lazy.Regexp(`(?i)(` + secretWords + `|[a-z0-9][_-]key)$`)
	// The user of an address, however it is written; with a password of any; a signature in its
	// query; and the token in the path of a conda channel.
	loginInAddress = lazy.Regexp(`(?i)(https?:)[/\\]+[^/\\\s"'<>]*@|([a-z][a-z0-9+.-]*:)//[^/\s"'<>:@]*:[^/\s"'<>]*@`)
	signed         = lazy.Regexp(`(?i)(://[^\s"'<>]*[?&](?:[a-z0-9_.-]*` + secretWords + `|sig)=)[^&#\s"'<>*][^&#\s"'<>]*`)
	named          = lazy.Regexp(`^(([a-z]{0,19}|[A-Za-z]{0,8})[0-9]{0,4}|[0-9]{1,8})$`)
	hiddenIn       = lazy.Regexp(`https?://[^\s"'<>@]*[/=]\*\*\*`)
	channelToken   = lazy.Regexp(`(?i)(https?://[^\s"'<>]*/t/)[^/\s"'<>*]+`)
)

const redacted = "***"

// Redact removes what looks like a credential from a line: the user of a URL, what
// is assigned to a name such as token or password, the value of an option called
// so, and every one of secrets wherever it stands.
func Redact(s string, secrets ...string) string {
	if s = Hide(s, secrets...); harmless(s) {
		return s
	}
	return scrub(s)
}

// Tokens are the addresses in arguments and variables, such as a mirror's, up to what may be
// a token in their path: some indexes let in whoever knows one.
func Tokens(values ...string) (secrets []string) {
	for _, v := range values {
		words := strings.Fields(v[strings.LastIndex(v, "=http")+1:])
		if first, _, more := strings.Cut(v, "=http"); more { // a variable may hold several
			words = strings.Fields(strings.TrimPrefix(v, first+"="))
		}
		if len(words) > 0 && strings.HasPrefix(words[0], "http") {
			for _, w := range words {
				secrets = append(secrets, tokensIn(w)...)
			}
		}
	}
	return secrets
}

// tokensIn are an address up to its last token, and the longer tokens themselves: where its
// host is not shown, its path may be.
func tokensIn(address string) (secrets []string) {
	_, rest, _ := strings.Cut(address, "://")
	parts := strings.Split(rest, "/")
	for i := len(parts) - 1; i > 0; i-- {
		if !slices.ContainsFunc(strings.FieldsFunc(parts[i], func(r rune) bool { return strings.ContainsRune("-_.+~", r) }), isToken) {
			continue
		}
		if secrets == nil {
			secrets = []string{"//" + strings.Join(parts[:i+1], "/")}
		}
		if len(parts[i]) >= 8 {
			secrets = append(secrets, parts[i])
		}
	}
	return secrets
}

// isToken reports whether a part of a path may be one: no word that somebody gave for a
// name, such as simple or cu126, and no number of a project.
func isToken(word string) bool { return !named().MatchString(word) }

// Hide removes every one of secrets; of an address its last part.
func Hide(s string, secrets ...string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, shownOf(secret))
	}
	return s
}

func shownOf(secret string) string {
	if strings.HasPrefix(secret, "//") {
		return secret[:strings.LastIndex(secret, "/")+1] + redacted
	}
	return redacted
}

// Restore puts tokens back into a text that a [Stream] hid them in; lacks is an address that
// lacked one, "" where none did.
func Restore(s string, tokens ...string) (whole, lacks string) {
	lacks = hiddenIn().FindString(s)
	for _, t := range tokens {
		if strings.HasPrefix(t, "//") {
			s = strings.ReplaceAll(s, shownOf(t), t)
		}
	}
	return s, lacks
}

// scrub removes what the expressions match.
func scrub(s string) string {
	for _, r := range []struct {
		of func() *regexp.Regexp
		by string
	}{{userinfo, "//" + redacted + "@"}, {bearer, "${1}" + redacted}, {assigned, "${1}" + redacted}, {option, "${1}" + redacted},
		{known, "${1}" + redacted}} {
		s = r.of().ReplaceAllString(s, r.by)
	}
	return s
}

// withoutLogin takes out of addresses what gate 1 lets nobody see, whatever they stand in:
// a user with a password or a token, and a conda channel's token.
func withoutLogin(s string) string {
	if !mayHide(s) || !strings.ContainsAny(s, "@=") && !strings.Contains(s, "/t/") {
		return s
	}
	s = loginInAddress().ReplaceAllString(s, "$1$2//"+redacted+"@")
	for before := ""; before != s; { // an expression takes one value of a query
		before, s = s, signed().ReplaceAllString(s, "${1}"+redacted)
	}
	return channelToken().ReplaceAllString(s, "${1}"+redacted)
}

// mayHide reports whether an address may stand in s.
func mayHide(s string) bool { return strings.Contains(s, ":/") || strings.Contains(s, `:\`) }

// Refused is a value that was not understood, as an error repeats it: of an address without
// its query and fragment, whose words are its server's own and may all be credentials.
func Refused(value string) string {
	if at := strings.Index(value, "://"); at >= 0 {
		if end := strings.IndexAny(value[at:], "?#"); end >= 0 {
			value = value[:at+end+1] + redacted
		}
	}
	return Clip(Redact(value), 120)
}

// harmless reports whether a line can hold nothing that Redact removes: most cannot, and
// to know it takes less than one of the expressions.
func harmless(s string) bool {
	if !isPlain(s) { // (?i) folds more than letters of ASCII
		return false
	}
	lower := strings.ToLower(s)
	return !slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(lower, mark) })
}

// marks are parts of all that the expressions match, in small letters.
var marks = []string{"@", "authorization", "token", "pass", "pwd", "secret", "signature", "credential", "key",
	"hf_", "gh", "glpat-", "sk-", "xox", "akia", "nvapi-"}

// RedactArgv is [Redact] for a command line of separate words, where the value of
// an option may hold blanks or begin with a dash.
func RedactArgv(argv []string, secrets ...string) []string {
	out := slices.Clone(argv)
	for i, a := range out {
		out[i] = Redact(a, secrets...)
		if name, value, joined := strings.Cut(a, "="); isOption(name) && joined && value != "" {
			out[i] = name + "=" + redacted
		} else if isAttached(a) {
			out[i] = "-p" + redacted
		} else if i > 0 && isOption(argv[i-1]) && !strings.Contains(argv[i-1], "=") {
			out[i] = redacted
		}
	}
	return out
}

// isAttached reports whether a word is -pPASSWORD, as of mysql; -pretrained is a word.
func isAttached(word string) bool {
	value, ok := strings.CutPrefix(word, "-p")
	return ok && len(value) >= 6 && !strings.ContainsAny(value, "=/.") && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_-") != ""
}

// isOption reports whether a word is an option that a credential follows.
func isOption(word string) bool {
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--no-") && !strings.ContainsAny(word, " \t\n/") && secretName().MatchString(word)
}

// Secrets collects the values of an environment that must never be shown: those of
// variables with a credential's name, and the passwords of URLs.
func Secrets(environ []string) []string {
	var out []string
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		if len(v) >= 8 && secretVariable().MatchString(k) {
			out = append(out, v)
		}
		if _, rest, yes := strings.Cut(v, "://"); yes {
			if info, _, yes := strings.Cut(rest, "@"); yes && !strings.Contains(info, "/") {
				if _, password, yes := strings.Cut(info, ":"); yes && len(password) >= 4 {
					out = append(out, password)
				}
			}
		}
	}
	return append(out, Tokens(environ...)...)
}
