package probe

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"testing"
	"time"
)

// A distribution can be copied where each of its files is what RECORD says.
func TestWhole(t *testing.T) {
	const info = site + "/one-1.0.dist-info"
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	own := "one-1.0.dist-info/RECORD,,\none-1.0.dist-info/INSTALLER,,\n__pycache__/one.cpython-312.pyc,,\n"
	row := fmt.Sprintf("one.py,%s,3\n", hash("abc"))
	early, late := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for name, test := range map[string]struct {
		record, text string
		at           time.Time
		want         bool
	}{
		"as installed":                   {row + own, "abc", early, true},
		"written again as it was":        {row + own, "abc", late, true},
		"changed later":                  {row + own, "xyz", late, false},
		"changed, as if never":           {row + own, "xyz", early, true}, // the copy itself finds it
		"longer":                         {row + own, "abcd", early, false},
		"gone":                           {row + fmt.Sprintf("two.py,%s,3\n", hash("abc")) + own, "abc", early, false},
		"no hash":                        {"one.py,,3\n" + own, "abc", early, false},
		"a weak hash":                    {"one.py,md5=kAFQmDzST7DWlj99KOF_cg,3\n" + own, "abc", early, false},
		"a file somewhere else":          {row + fmt.Sprintf("/etc/one,%s,3\n", hash("abc")) + own, "abc", early, false},
		"a directory in place of a file": {row + fmt.Sprintf("one-1.0.dist-info,%s,3\n", hash("abc")) + own, "abc", early, false},
		"byte code of another":           {row + fmt.Sprintf("__pycache__/one.pyc,%s,3\n", hash("abc")) + own, "abc", early, true},
		"cut off":                        {row, "abc", early, false},
		"none":                           {"", "abc", early, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range map[string]string{"/env/pyvenv.cfg": "version = 3.12.4\n", site + "/one.py": test.text, info + "/METADATA": "Name: one\nVersion: 1.0\n",
				info + "/WHEEL": "Tag: py3-none-any\n", info + "/RECORD": test.record} {
				write(t, root+file, []byte(text), 0o644)
			}
			if err := os.Chtimes(root+site+"/one.py", test.at, test.at); err != nil {
				t.Fatal(err)
			}
			held := Held(Options{Root: root, OS: "linux", Venv: "/env"})
			if len(held.Dists) != 1 || held.Dists[0].Whole != test.want {
				t.Errorf("%+v", held.Dists)
			}
		})
	}
}

// uv keeps what is from the default index apart from all else.
func TestCachedByUV(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{site + "/public-1.0.dist-info/METADATA", site + "/private-1.0.dist-info/METADATA", site + "/newer-2.0.dist-info/METADATA"} {
		write(t, root+file, []byte(" \n"), 0o644)
	}
	for _, file := range []string{"pypi/public/1.0-py3-none-any.msgpack", "index/0123456789abcdef/private/1.0-py3-none-any.msgpack", "pypi/newer/1.0-py3-none-any.msgpack"} {
		write(t, root+"/home/me/.cache/uv/wheels-v8/"+file, nil, 0o644)
		write(t, root+"/elsewhere/wheels-v5/"+file, nil, 0o644)
	}
	write(t, root+"/env/pyvenv.cfg", []byte("version = 3.12.4\n"), 0o644)
	for _, env := range [][]string{{"HOME=/home/me"}, {"HOME=/", "XDG_CACHE_HOME=/home/me/.cache"}, {"HOME=/", "UV_CACHE_DIR=/elsewhere"}} {
		got := map[string]bool{}
		for _, d := range Held(Options{Root: root, OS: "linux", Venv: "/env", Env: env}).Dists {
			got[d.Name] = d.Indexed
		}
		if want := map[string]bool{"public": true, "private": false, "newer": false}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %v", env, got)
		}
	}
}
