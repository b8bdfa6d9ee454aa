package fleet

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for hosts, want := range map[string]string{
		"": "", "a": "a", "n1 n2": "n1,n2", "n1 n2 n3": "n[1-3]", "n08 n09 n10 n11 n13": "n[08-11],n13", "a b c": "a,b,c",
		"n9 n10 n11": "n9,n10,n11", "n1.lan n2.lan n3.lan x3": "n[1-3].lan,x3", "r1n1 r1n2 r1n3 r2n1": "r1n[1-3],r2n1",
	} {
		if got := Fold(strings.Fields(hosts)); got != want {
			t.Errorf("%s: %s, want %s", hosts, got, want)
		}
	}
}
