package ui

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"strings"

	"envfix/internal/chart"
)

var (
	//go:embed report.html
	reportHTML string
	//go:embed report.css
	reportCSS string
)

// reportPage is one file of HTML in the one look of envfix's pages: body defines
// "title" and "body", and may define "style". It loads nothing from anywhere and holds
// no script; what data holds is escaped, and `cleaned` takes out what a terminal obeys.
func reportPage(body string, funcs template.FuncMap, data any) ([]byte, error) {
	all := template.FuncMap{"cleaned": Clean, "marked": marked}
	maps.Copy(all, funcs)
	page, err := template.New("report").Funcs(all).Parse(strings.Replace(reportHTML, "/* look */", chart.Palette+reportCSS, 1))
	if err != nil {
		return nil, err
	}
	if page, err = page.Parse(body); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, data)
	return b.Bytes(), err
}
