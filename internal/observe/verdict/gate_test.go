package verdict

import "testing"

func TestGate(t *testing.T) {
	r := Report{Finding: Finding{Verdict: LoaderBound, Evidence: map[string]any{"idle_share": 0.78, "steps_per_s": 8.8}}, Seconds: 41}
	tests := []struct {
		in, says string
		fails    bool
	}{
		{"idle>30%", "idle>30%: it was 78 %", true},
		{"idle > 80", "idle > 80: it was 78 %", false},
		{"steps_per_s<10", "steps_per_s<10: it was 8.8", true},
		{"verdict=loader_bound", "verdict=loader_bound: the verdict is loader_bound", true},
		{"verdict!=healthy", "verdict!=healthy: the verdict is loader_bound", true},
		{"verdict!=loader_bound", "verdict!=loader_bound: the verdict is loader_bound", false},
		{"memory>90%", "memory>90%: not measurable here", true},
		{"seconds<=41", "seconds<=41: it was 41 s", true},
	}
	for _, tt := range tests {
		g, err := ParseGate(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if fails, says := g.Fails(r); fails != tt.fails || says != tt.says {
			t.Errorf("%s: %t %q, want %t %q", tt.in, fails, says, tt.fails, tt.says)
		}
	}
	for _, bad := range []string{"", "idle", "idle>", "idle>x", "idle>NaN", "idel>3", "verdict>3", "verdict=", ">3", "idle>-1"} {
		if g, err := ParseGate(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, g)
		}
	}
}
