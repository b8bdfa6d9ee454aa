package evidence

import (
	"strings"

	"envfix/internal/doctor/read"
)

// kernelSays reads what the kernel's log says of a GPU that cannot be used as a paste of it
// is read: of the messages that are known, those of the kernel.
func kernelSays(e *Evidence) {
	l := e.Machine.KernelLog
	if e.Pasted || l == nil || len(l.Lines) == 0 {
		return
	}
	r := read.NewReader(e.Knowledge)
	_ = r.Read("", strings.NewReader(strings.Join(l.Lines, "\n"))) // of a string: nothing fails
	for _, h := range r.Case().Hits {
		if h.Message.Program == "kernel" {
			h.Live, h.At = true, Fact("kernel log: %s", h.At.Text)
			e.Hits = append(e.Hits, h)
		}
	}
}
