package matrix

import (
	"testing"

	"envfix/data"
)

func TestCheckEmbedded(t *testing.T) {
	for _, f := range Check(data.FS) {
		t.Error(f)
	}
}
