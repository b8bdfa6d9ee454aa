package ui

import (
	"strings"
	"testing"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/machine"
)

// Text from outside stays text: no tag, no script, no control character of it
// reaches the page.
func TestDoctorPageEscapes(t *testing.T) {
	hostile := "</pre><script>alert(1)</script>\x1b[31m\u202e`<img src=x onerror=y>`"
	r := doctor.Report{Findings: []doctor.Finding{{Severity: know.Error, Cause: hostile, Check: hostile, Text: hostile, Evidence: []string{hostile}, Fix: []string{hostile, "run `" + hostile}, Explains: []string{hostile}}}, Notes: []string{hostile}}
	m := machine.Machine{GPUs: []machine.GPU{{Vendor: machine.NVIDIA, Name: hostile}}, Env: map[string]string{"LD_LIBRARY_PATH": hostile}, Notes: []string{hostile}}
	page, err := DoctorPage(r, nil, &m, hostile, func(s string) string { return s })
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "http://", "https://", "href="} {
		if strings.Contains(string(page), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(string(page), "&lt;script&gt;") {
		t.Error("the text is not there")
	}
}
