package read

import "envfix/internal/machine"

// useReaders read what nvidia-smi's table says of a GPU's health beside what the
// other readers take: the count of uncorrectable memory errors.
var useReaders = []reader{
	{`^\|\s+\d+\s+\S.*\|\s*[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d\s+(?:On|Off|` +
		`N/A)\s*\|\s*(\d{1,9})\s*\|`, func(r *Reader, m []string, _ Evidence) {
		if n := len(r.c.Machine.GPUs); n > 0 {
			r.c.Machine.GPUs[n-1].Use = &machine.GPUUse{ECC: &machine.ECC{Enabled: true, Volatile: new(int64(Atoi(m[1])))}}
		}
	}},
}
