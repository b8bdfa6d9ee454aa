package chart

import (
	"os"
	"strings"
	"testing"
)

// The web page is a file of its own; its colours are those of the map and the reports.
func TestOnePalette(t *testing.T) {
	page, err := os.ReadFile("../page/web/page.css")
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(Palette, ":root")
	if !strings.Contains(string(page), ":root"+own) {
		t.Error("the page's colours are not those of palette.css")
	}
}
