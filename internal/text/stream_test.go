package text

import (
	"bytes"
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
			if n, err := NewStream(&b, live).Write([]byte(c.in)); n != len(c.in) || err != nil || b.String() != want {
				t.Errorf("%q, live %v: %q, want %q (%d, %v)", c.in, live, b.String(), want, n, err)
			}
		}
	}
	var b bytes.Buffer // a character and a mark that come in two writes
	s := NewStream(&b, false)
	for _, c := range []byte("中\u202eé") {
		if _, err := s.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != `中\u202eé` {
		t.Errorf("byte by byte: %q", b.String())
	}
}
