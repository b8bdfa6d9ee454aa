package gpu

import (
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// The first CUDA that can hold code for a GPU is that of the oldest capability
// whose cubins run on it.
func TestToolkitBefore(t *testing.T) {
	m := matrix.Embedded()
	for sm, first := range map[machine.SM][2]string{{Major: 7}: {"8.0", "9.0"}, {Major: 7, Minor: 5}: {"8.0", "9.0"}, {Major: 8, Minor: 6}: {"10.2", "11.0"}, {Major: 8, Minor: 9}: {"10.2", "11.0"},
		{Major: 9}: {"11.7", "11.8"}, {Major: 10, Minor: 3}: {"12.6", "12.8"}, {Major: 12, Minor: 1}: {"12.6", "12.8"}} {
		if !toolkitBefore(m, first[0], sm) || toolkitBefore(m, first[1], sm) {
			t.Errorf("%s: CUDA %s is before it: %v, CUDA %s: %v", sm, first[0], toolkitBefore(m, first[0], sm),
				first[1], toolkitBefore(m, first[1], sm))
		}
	}
}
