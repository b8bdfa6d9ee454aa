package text

import (
	"bytes"
	"strings"
	"testing"
)

func TestStream(t *testing.T) {
	for _, c := range []struct{ in, pipe, live string }{
		{"plain\n\tline é 中 \u2060", "plain\n\tline é 中 \u2060", "plain\n\tline é 中 \u2060"},
		{"\x1b[33mWarn\x1b[0m", `\u001b[33mWarn\u001b[0m`, "\x1b[33mWarn\x1b[0m"},
		{"\x1b]0;title\x07", `\u001b]0;title\u0007`, `\u001b]0;title\u0007`},
		{"\x1b[8mhidden", `\u001b[8mhidden`, `\u001b[8mhidden`},
		{"a\x1b[2A\r\x1b[Kb", `a\u001b[2A\u000d\u001b[Kb`, `a\u001b[2A\u000d\u001b[Kb`},
		{"\r\x1b[Kline", `\u000d\u001b[Kline`, "\r\x1b[Kline"},
		{"\x1b[12A\r\x1b[Ja\r\nb\rc", `\u001b[12A\u000d\u001b[Ja\u000d` + "\n" + `b\u000dc`, "\x1b[12A\r\x1b[Ja\r\n" + `b\u000dc`},
		{"\u009b31m \u202e \u2066 \u061c \x7f\x00", `\u009b31m \u202e \u2066 \u061c \u007f\u0000`, `\u009b31m \u202e \u2066 \u061c \u007f\u0000`},
		{"8 bit \x9b31m", `8 bit \ufffd31m`, `8 bit \ufffd31m`},
	} {
		for live, want := range map[bool]string{false: c.pipe, true: c.live} {
			var b bytes.Buffer
			if n, err := NewStream().On(&b, live).Write([]byte(c.in)); n != len(c.in) || err != nil || b.String() != want {
				t.Errorf("%q, live %v: %q, want %q (%d, %v)", c.in, live, b.String(), want, n, err)
			}
		}
	}
	var b bytes.Buffer // a character and a mark that come in two writes
	s := NewStream().On(&b, false)
	for _, c := range []byte("中\u202eé") {
		if _, err := s.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != `中\u202eé` {
		t.Errorf("byte by byte: %q", b.String())
	}
}

// Wherever a text is cut into writes, no part of a login or of a token leaves, and all else
// does.
func TestStreamCutIntoWrites(t *testing.T) {
	tokens := Tokens("plan", "--mirror", "default=https://dl.example/Ab3dE9xQ/org/simple", "PIP_INDEX_URL=http://127.0.0.1:1/canary1x/simple",
		"torch @ https://h.example/packages/4aF/x.whl", "UV_INDEX_URL=https://h.example/whl/cu126")
	const in = "see HTTPS://user:canary@h.example/x and\nhttps://canary@h.example:8443\t\"https://h.example/t/canary/c\" ssh://git@h.example a:b\n" +
		"中 https://dl.example/Ab3dE9xQ/org/simple/torch http://127.0.0.1:1/canary1x"
	const want = "see HTTPS://***@h.example/x and\nhttps://***@h.example:8443\t\"https://h.example/t/***/c\" ssh://git@h.example a:b\n" +
		"中 https://dl.example/***/org/simple/torch http://127.0.0.1:1/***"
	for i := range len(in) {
		for j := i; j <= min(i+12, len(in)); j++ {
			var b bytes.Buffer
			s := NewStream(tokens...).On(&b, false)
			for _, part := range []string{in[:i], in[i:j], in[j:]} {
				if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := s.Flush(); err != nil || b.String() != want {
				t.Fatalf("cut at %d and %d: %q, %v", i, j, b.String(), err)
			}
		}
	}
	if whole, lacks := Restore(want, tokens...); lacks != "https://h.example/t/***" || whole != strings.NewReplacer("dl.example/***", "dl.example/Ab3dE9xQ", "127.0.0.1:1/***", "127.0.0.1:1/canary1x").Replace(want) {
		t.Errorf("restored: %q, lacks %q", whole, lacks)
	}
}

// What is not the beginning of an address leaves at once: a prompt waits for an answer.
func TestStreamKeepsNothingElse(t *testing.T) {
	for _, in := range []string{"Password:", "go on? [y/N] ", "at http", "12 % of C:", "https://h.example ", "\r\x1b[K3 MB"} {
		var b bytes.Buffer
		if _, err := NewStream().On(&b, true).Write([]byte(in)); err != nil || b.String() != in {
			t.Errorf("%q: %q, %v", in, b.String(), err)
		}
	}
	var b bytes.Buffer
	s := NewStream().On(&b, true)
	for _, in := range []string{"from https://h.example", "\r\x1b[Kdone"} {
		if _, err := s.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != "from https://h.example\r\x1b[Kdone" {
		t.Errorf("%q", b.String())
	}
}

// Attacks on the gate: a login or a token in an address as nobody writes one by mistake.
func TestAttacksOnTheStream(t *testing.T) {
	tokens := Tokens("PIP_EXTRA_INDEX_URL=https://a.example/simple https://dl.example/9canary9/simple", "--mirror=default=https://b.example/0canary0/simple")
	for _, in := range []string{
		"ftp://u:canary@h.example/x", "git+ssh://u:canary@h.example/x", "socks5://:canary@h.example", "https:/u:canary@h.example/x", `https:\\u:canary@h.example`,
		`{"a": "https:\\\\canary@h.example"}`, "HtTpS://canary@h.example", "https://a@b:canary@h.example/x", "https://h.example/x?sv=1&sig=canary&se=2",
		"https://h.example/x?X-Amz-Credential=canary&X-Amz-Signature=canary", "https://h.example/x?a=1&access_token=canary#x", "https://dl.example/9canary9/simple/torch/",
		"https://…/9canary9/simple", "https://b.example/0canary0/simple", "git+https://canary@h.example/o/r.git@v1", "https://h.example/t/canary/c/noarch",
	} {
		for at := range len(in) {
			var b bytes.Buffer
			s := NewStream(tokens...).On(&b, true)
			for _, part := range []string{"at ", in[:at], in[at:], "\n"} {
				if _, err := s.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(b.String(), "canary") || !strings.Contains(b.String(), "***") || b.String()[b.Len()-1] != '\n' {
				t.Errorf("%s, cut at %d: %s", in, at, b.String())
			}
		}
	}
	for _, in := range []string{"ssh://git@h.example/o/r.git", "https://h.example/x?page=2&q=token", "mailto:a@h.example", "nginx:1.2@sha256:0a1b", "C:\\x@y"} {
		var b bytes.Buffer
		if _, err := NewStream(tokens...).On(&b, true).Write([]byte(in + "\n")); err != nil || b.String() != in+"\n" {
			t.Errorf("%s: %s, %v", in, b.String(), err)
		}
	}
}
