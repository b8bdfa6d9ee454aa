package chart

import (
	"os"
	"regexp"
	"testing"
)

// The web page, the map and the reports have their colours from palette.css alone.
func TestOnePalette(t *testing.T) {
	for _, file := range []string{"map.css", "../page/web/page.css", "../ui/report.css"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if own := regexp.MustCompile(`:root|#[0-9a-fA-F]{3,8}\b|light-dark\(`).FindAllString(string(text), -1); own != nil {
			t.Errorf("%s has colours of its own: %q", file, own)
		}
	}
}
