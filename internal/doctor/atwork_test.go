package doctor

import "testing"

// A text that shows a GPU at work is no puzzle; one in which somebody asks is.
func TestAtWork(t *testing.T) {
	banner := "Unsloth: Fast Llama patching\n NVIDIA L4. Num GPUs = 1. Max memory: 22.161 GB.\n FA [FA2 = False]\n"
	for text, want := range map[string]Verdict{
		"h:1:2 [0] NCCL INFO comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE": Healthy,
		banner: Healthy,
		"load_tensors: offloaded 33/33 layers to GPU":                               Healthy,
		"|    0   N/A  N/A      4021      C   python                    71220MiB |": Healthy,
		"|    0   N/A  N/A      1432      G   /usr/lib/xorg/Xorg          180MiB |": Unknown,
		banner + "it is slow": Unknown,
		banner + "Traceback (most recent call last):\nFrobError: no frob":               Unknown,
		"100%|#####| 10/10 [00:01<00:00]\nwhy does the second epoch never start?":       Unknown,
		"h:1:2 [0] NCCL INFO comm 0x55 rank 0 - Init COMPLETE\nthen it hangs for hours": Unknown,
	} {
		r, _ := examine(t, text)
		got := r.Verdict
		if len(r.Findings) > 0 && want == Unknown { // a finding is an answer as well
			continue
		}
		if got != want || len(r.Findings) > 0 {
			t.Errorf("%q: %s %v, want %s", text, got, checksOf(r), want)
		}
	}
}
