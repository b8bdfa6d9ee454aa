package chart

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// The colours of all pages, and the look and the keys of the map. The page has them as files; a map of its own
// (`envfix matrix map --html`) carries them.
var (
	//go:embed palette.css
	Palette string
	//go:embed map.css
	CSS string
	//go:embed map.js
	JS string
)

// HTML is the map as a table that a person can walk through with the arrow keys. It
// holds no script and no style; what a cell says stands in its data attributes and, for
// screen readers, in its label.
func (m *Map) HTML() string {
	var b strings.Builder
	b.WriteString(`<table class="map" role="grid" aria-label="` + esc("GPU generations and torch releases on "+m.OS+" "+m.Arch) + `"><thead><tr><td></td>`)
	for _, c := range m.Columns {
		major, minor, _ := strings.Cut(c.Minor(), ".")
		b.WriteString(`<th scope="col"` + class("", c.Chosen) + `><span>` + esc(major) + `.</span>` + esc(minor) + `</th>`)
	}
	b.WriteString("</tr></thead>\n")
	vendor, first := "", true
	for _, r := range m.Rows {
		if r.Vendor != vendor {
			b.WriteString(say.If(vendor != "", "</tbody>\n"))
			b.WriteString("<tbody>")
			vendor = r.Vendor
		}
		b.WriteString("<tr" + class("", r.Chosen) + `><th scope="row"><b>` + esc(cmp.Or(r.Code, r.Name)) + `</b> ` + esc(r.second()) + `</th>`)
		for i, c := range r.Cells {
			m.cell(&b, r, m.Columns[i], c, first)
			first = false
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// cell writes one cell; the first can be reached by Tab, the others by arrows.
func (m *Map) cell(b *strings.Builder, r Row, c Column, x Cell, first bool) {
	tab := say.Either(first, `0`, `-1`)
	who := strings.TrimSpace(r.Code + " " + r.Name)
	b.WriteString(`<td role="gridcell" tabindex="` + tab + `"` + class(string(x.State), c.Chosen) + ` data-torch="` + esc(x.Torch) + `" data-gpu="` + esc(who) + `"`)
	for _, d := range [][2]string{
		{"models", r.Models}, {"text", x.Text}, {"build", x.Build}, {"more", strings.Join(x.More, " ")}, {"source", x.Source}, {"proof", string(x.Proof)},
	} {
		if d[1] != "" {
			b.WriteString(` data-` + d[0] + `="` + esc(d[1]) + `"`)
		}
	}
	label := who + ", torch " + x.Torch + ": " + x.Text
	if x.Build != "" { // what stands in the cell begins its label
		label = short(x.Build) + ": " + label
	}
	b.WriteString(` aria-label="` + esc(label) + `"><i>` + esc(short(x.Build)) + `</i></td>`)
}

// short is a build as it fits a cell: cu126 is 12.6.
func short(build string) string {
	if digits, ok := strings.CutPrefix(build, "cu"); ok && len(digits) > 2 {
		return digits[:len(digits)-1] + "." + digits[len(digits)-1:]
	}
	return strings.TrimPrefix(build, "rocm")
}

func (r Row) second() string {
	if r.Vendor == "nvidia" {
		return r.Name
	}
	models, _, _ := strings.Cut(r.Models, ";")
	for _, brand := range []string{"Radeon ", "Instinct "} {
		models = strings.TrimPrefix(models, brand)
	}
	models, _, _ = strings.Cut(models, "/")
	models, _, _ = strings.Cut(models, ",")
	return models
}

func class(state string, chosen bool) string {
	if chosen {
		state = strings.TrimSpace(state + " chosen")
	}
	return say.If(state != "", ` class="`+state+`"`)
}

func esc(s string) string { return html.EscapeString(text.Printable(s)) }

// Page is the map as one page that needs nothing else, and runs its own script alone.
func (m *Map) Page(title, foot string) string {
	script := "\n" + strings.ReplaceAll(JS, "export ", "") +
		`walkMap(document.querySelector("table.map"), document.getElementById("map-say"));` + "\n"
	sum := sha256.Sum256([]byte(script))
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-` +
		base64.StdEncoding.EncodeToString(sum[:]) + `'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>` + esc(title) + `</title>
<style>
` + Palette + alone + CSS + `</style>
</head>
<body>
<main>
<h1>` + esc(title) + `</h1>
` + Legend + m.HTML() + `
<p class="map-say" id="map-say" role="status">Point at a cell, or reach the table with Tab and walk with the arrow keys: its reason and source stand here.</p>
<p class="soft">` + esc(foot) + `</p>
</main>
<script type="module">` + script + `</script>
</body>
</html>
`
}

// Legend says what the states mean.
const Legend = `<p class="legend"><span><i class="code"></i>code for it</span> <span><i class="ptx"></i>PTX, compiled at first use</span>
<span><i class="driver"></i>needs another driver</span> <span><i class="none"></i>does not run</span> <span><i class="unknown"></i>not known</span></p>
`

// alone is the look of a map that stands alone; the page has its own.
const alone = `body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem } h1 { font-size: 1.35rem; font-weight: 600 } .soft { color: var(--soft); font-size: .875rem }
`
