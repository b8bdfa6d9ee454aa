package probe

import (
	"context"
	"os"
	"testing"
)

// BenchmarkGather reads this machine without NVML: what `envfix facts` does
// beside starting and printing.
func BenchmarkGather(b *testing.B) {
	o := Options{Env: os.Environ()}
	o.NVML = "off"
	for b.Loop() {
		Gather(context.Background(), o)
	}
}
