package pep508

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestLogin(t *testing.T) {
	for written, want := range map[string][4]string{
		"foo @ https://u:s3cr3t@h/foo-1-py3-none-any.whl":      {"foo @ https://h/foo-1-py3-none-any.whl", "https://h", "u", "s3cr3t"},
		"foo[a] @ https://u:s3%40cr3t@h:8443/f.whl#sha256=ab":  {"foo[a] @ https://h:8443/f.whl#sha256=ab", "https://h:8443", "u", "s3@cr3t"},
		"bar @ git+https://s3cr3t@github.com/o/r.git@v1":       {"bar @ git+https://github.com/o/r.git@v1", "https://github.com", "s3cr3t", ""},
		"bar @ http://:s3cr3t@h?x=1 ; python_version >= '3.8'": {"bar @ http://h?x=1 ; python_version >= '3.8'", "http://h", "", "s3cr3t"},
		"bar @ https://u:s3@cr3t@h":                            {"bar @ https://h", "https://h", "u", "s3@cr3t"},
		"bar @ git+ssh://git@github.com/o/r.git":               {"bar @ git+ssh://git@github.com/o/r.git"},
		"bar @ https://h/o@v1/r.zip":                           {"bar @ https://h/o@v1/r.zip"},
		"bar @ file:///a@b/c.whl":                              {"bar @ file:///a@b/c.whl"},
	} {
		r, err := Parse(written, "")
		if err != nil || r.Text != want[0] || (r.Login != nil) != (want[1] != "") {
			t.Errorf("%s: %q (%v)", written, r.Text, err)
			continue
		}
		if r.Login != nil {
			if origin, user, password := r.Login.Secret(); [3]string{origin, user, password} != [3]string(want[1:]) {
				t.Errorf("%s: %s %s %s", written, origin, user, password)
			}
		}
		b, err := json.Marshal(r)
		if shown := string(b) + fmt.Sprintf("%v %+v %#v %s", r, r, r, r.Login); err != nil || strings.Contains(shown, "cr3t") {
			t.Errorf("%s: shown in %s (%v)", written, shown, err)
		}
	}
}
