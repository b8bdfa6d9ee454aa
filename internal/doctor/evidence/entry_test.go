package evidence

import "testing"

func TestEntryOf(t *testing.T) {
	for list, want := range map[string]string{"/a:/p/libs/:/b": "/p/libs/", "/a:./libs": "./libs", ":libs": "libs", "/a::": "", "/x/libs": "", "ibs": "", ".": ""} {
		if got := EntryOf(list, "/p/libs"); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
