package maintain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"envfix/internal/index"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A Report is the answer of `matrix prove --json`.
type Report struct {
	Format   int           `json:"format"`
	Index    string        `json:"index"` // whose word it is, never the address of the default
	Agree    int           `json:"agree"`
	Differ   int           `json:"differ"`
	Unread   int           `json:"unread"`
	Pairs    int           `json:"pairs"` // releases × platforms read by their bytes
	Bytes    int64         `json:"bytes"`
	Requests int64         `json:"requests"`
	Rows     []index.Proof `json:"rows"`
	Notes    []string      `json:"notes"`
}

func newReport(x *Index, proofs []index.Proof, notes []string) *Report {
	r := &Report{Format: 1, Index: x.Name(), Rows: proofs, Notes: append([]string{}, notes...)}
	r.Bytes, r.Requests = x.Cost()
	for _, p := range proofs {
		switch p.Verdict {
		case index.Agree:
			r.Agree++
		case index.Differ:
			r.Differ++
		default:
			r.Unread++
		}
		if p.By == "bytes" {
			r.Pairs++
		}
	}
	return r
}

// Text has one line per row, and below it what does not agree.
func (r *Report) Text(all bool, took time.Duration) string {
	var b strings.Builder
	for _, p := range r.Rows {
		if p.By == "metadata" && p.Verdict == index.Agree && !all {
			continue
		}
		fmt.Fprintf(&b, "%-14s %-8s %-8s %-7s %-9s %s\n", p.Verdict, p.Torch, p.Arch, cmp.Or(p.Python, "-"), p.By, cmp.Or(libraryName(p), p.Build))
		b.WriteString(say.With("    ", text.Printable(p.Error), "\n"))
		for _, c := range p.Checks {
			if c.Verdict == index.Agree && !all {
				continue
			}
			fmt.Fprintf(&b, "    %-14s %-10s row %s, wheel %s\n", c.Verdict, c.Field, cmp.Or(c.Row, "none"), cmp.Or(text.Printable(c.Wheel), "none"))
			b.WriteString(say.With("        ", text.Printable(c.Note), "\n"))
		}
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + text.Printable(n) + "\n")
	}
	fmt.Fprintf(&b, "%d wheels of %d releases × platforms (%s): %d agree, %d differ, %d cannot be read\n",
		len(r.Rows), r.Pairs, text.Printable(r.Index), r.Agree, r.Differ, r.Unread)
	fmt.Fprintf(&b, "read %.1f MB in %d requests, %.0f s\n", float64(r.Bytes)/1e6, r.Requests, took.Seconds())
	return b.String()
}

// libraryName is the library that a proof of the stack is about.
func libraryName(p index.Proof) string {
	if p.By == "fatbins" && len(p.Checks) > 0 {
		return p.Checks[0].Field
	}
	return ""
}
