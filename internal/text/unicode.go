package text

import (
	"bytes"
	"unicode/utf16"
)

// UTF8 returns a file's text as UTF-8, without a byte order mark. PowerShell 5
// writes UTF-16 where a command's output is redirected (`envfix facts --json >
// facts.json`, `pip freeze > requirements.txt`), and marks it as such.
func UTF8(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return rest
	}
	if len(data) < 2 {
		return data
	}
	high, low := 0, 1
	switch {
	case data[0] == 0xff && data[1] == 0xfe:
		high, low = 1, 0
	case data[0] == 0xfe && data[1] == 0xff:
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i+high])<<8|uint16(data[i+low]))
	}
	return []byte(string(utf16.Decode(units)))
}
