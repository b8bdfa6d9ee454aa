package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                         "plain",
		"\x1b[31mred\x1b[0m":            "red",
		"\x1b]0;title\x07text":          "text",
		"a\x00b\x07c\u009bd":            "a b c d",
		"left\u202eright\u2066x":        "left right x",
		"tab\there":                     "tab here",
		"\x1b]8;;http://x\x1b\\link":    "link",
		"caf\u00e9 \U0001F40D \xff end": "caf\u00e9 \U0001F40D   end",
		"two\nlines\r\n":                "two lines",
		"\tin front":                    " in front",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"RTX 5090":          "RTX 5090",
		"é ö 中":             "é ö 中",
		"a\nb\tc":           `a\nb\tc`,
		"\x1b[31mred":       `\x1b[31mred`,
		"\u202eevil":        `\u202eevil`,
		"\u200bzero":        `\u200bzero`,
		"bad \xff byte":     `bad \xff byte`,
		"c1 \u009b31m":      `c1 \u009b31m`,
		"\U000e0041 tagged": `\U000e0041 tagged`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := EscapeLines("a\x07\nb"); got != "a\\x07\nb" {
		t.Errorf("got %q", got)
	}
	if got := string(EscapeJSON([]byte("{\"a\": \"\u009b\u202e\U000e0041\"}\n"))); got != "{\"a\": \"\\u009b\\u202e\\udb40\\udc41\"}\n" {
		t.Errorf("got %q", got)
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "中中中": "中中中", "中中中中": "中中…", "abc": "abc", "abcd": "ab…"} {
		if got := Cut(in, 3); got != want {
			t.Errorf("Cut(%q, 3) = %q, want %q", in, got, want)
		}
	}
}

// TestHarmless draws lines of words that credentials are made of: what is taken for
// harmless must be what the expressions leave as it is.
func TestHarmless(t *testing.T) {
	words := []string{"--", "-", "=", ":", " ", "//", "/", "@", "user", "Token", "tokens", "PASSWD", "pwd", "api", "_", "key", "Access", "ghp_", "gho", "sk-", "hf_",
		"AKIA", "xoxb-", "nvapi-", "glpat-", "Authorization", "Bearer", "0123456789abcdefABCDEF", "max", "'", "\"", "https:", "credential", "s", "signature", "\u017f", "secret"}
	r := rand.New(rand.NewPCG(1, 2))
	quick := 0
	for range 50000 {
		var line strings.Builder
		for range r.IntN(7) {
			line.WriteString(words[r.IntN(len(words))])
		}
		s := line.String()
		if !harmless(s) {
			continue
		}
		quick++
		if got := scrub(s); got != s {
			t.Errorf("%q is not harmless: %q", s, got)
		}
	}
	if quick < 1000 {
		t.Errorf("only %d lines of 50,000 were harmless", quick)
	}
}

func TestUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "\xef\xbb\xbfmarked": "marked", "\xff\xfea\x00\xac\x20": "a€", "\xfe\xff\x00a\x20\xac": "a€", "\xff\xfea\x00b": "a", "\xff": "\xff",
	} {
		if got := string(UTF8([]byte(in))); got != want {
			t.Errorf("UTF8(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"http://ada:canary@proxy.example:3128":                       "http://***@proxy.example:3128",
		"https://canary@mirror.example/simple https://b:can@d.ex":    "https://***@mirror.example/simple https://***@d.ex",
		"https://u:can@ary@mirror.example/a@b":                       "https://***@mirror.example/a@b",
		"https://mirror.example/a@b":                                 "https://mirror.example/a@b",
		"https://m.example/simple?token=canary&x=1#sha256=ab":        "https://m.example/simple?token=***&x=1#sha256=ab",
		"password=canary":                                            "password=***",
		`"api_key": "canary canary", "x": 1`:                         `"api_key": ***, "x": 1`,
		"Authorization: Basic canary":                                "Authorization: Basic ***",
		"train.py --hf-token canary --epochs 3":                      "train.py --hf-token *** --epochs 3",
		"train.py --password=canary --out x":                         "train.py --password=*** --out x",
		"train.py --no-token --epochs 3":                             "train.py --no-token --epochs 3",
		"--tokenizer gpt2 --max-tokens 100 --max_tokens=5":           "--tokenizer gpt2 --max-tokens 100 --max_tokens=5",
		"the tokenizer is slow: 3 tokens a second":                   "the tokenizer is slow: 3 tokens a second",
		"https://m.example/f?X-Amz-Signature=canary&X-Amz-Expires=9": "https://m.example/f?X-Amz-Signature=***&X-Amz-Expires=9",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q; want %q", in, got, want)
		}
	}
	if got := Redact("half a canary", "canary"); got != "half a ***" {
		t.Errorf("got %q", got)
	}
	argv := []string{"train.py", "--no-token", "--token", "-starts with a dash", "--password=a b", "https://u:p@h/x", "--epochs", "3", "SECRET"}
	if got, want := strings.Join(RedactArgv(argv, "SECRET"), "|"), "train.py|--no-token|--token|***|--password=***|https://***@h/x|--epochs|3|***"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if argv[3] != "-starts with a dash" {
		t.Error("RedactArgv changed its argument")
	}
}

// What a person typed and nobody understood is repeated without what may be a credential.
func TestRefused(t *testing.T) {
	for in, want := range map[string]string{
		"default=http://h.example/simple#canary":       "default=http://h.example/simple#***",
		"http://h.example/simple?sig=canary#canary":    "http://h.example/simple?***",
		"https://canary@h.example/simple":              "https://***@h.example/simple",
		"linux?":                                       "linux?",
		"https://a.example=https://h.example/s#canary": "https://a.example=https://h.example/s#***",
	} {
		if got := Refused(in); got != want {
			t.Errorf("Refused(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for name, c := range map[string]string{"Escape": Escape(s), "Printable": Printable(s)} {
			for _, r := range c {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar && !strings.ContainsRune(s, r) {
					t.Fatalf("%s(%q) = %q holds %U", name, s, c, r)
				}
			}
		}
		if again := Escape(Escape(s)); again != Escape(s) {
			t.Fatalf("Escape twice: %q, then %q", Escape(s), again)
		}
	})
}
