package read

import (
	"strings"

	"envfix/internal/lazy"
)

// A document is a text that somebody wrote to be read, a README or a change log: what its
// sentences speak of did not happen here, and what stands in its blocks of code was printed.
type document struct {
	is, told bool // told: it has sentences
	fenced   bool // within ``` or ~~~
	shown    bool // the line before was a block's
	blank    bool // it was empty
}

// documentStart is how much of a text says whether it is one.
const documentStart = 16 << 10

var (
	fence = lazy.Regexp("(?ms)^ {0,3}(?:```|~~~).*?(?:^ {0,3}(?:```|~~~)|\\z)")
	// heading is one of Markdown, of both its forms, or of HTML, as a README begins.
	heading = lazy.Regexp(`(?m)^#{1,6} +(.*\pL.*)\n\s*\n|^(\S.*)\n(?:===+|---+) *$|^.{0,20}<h[1-6]\b[^>]*>(.*)`)
	// reported are the headings with which a report of a fault begins, which is about what happened.
	reported = lazy.Regexp(`(?i)\b(?:bug|issue|problem|error|crash|fail\w*|help|question|describe|description|environment|system info|` +
		`expected|actual|current|reproduc\w+|steps|logs?|output|traceback|what happened|checklist|prerequisites|not working|can.t|unable|` +
		`setup|hardware|software|versions?|context|summary|tried|my|i)\b`)
	// begins is what a program's line begins with, and no list, quotation or table.
	begins = lazy.Regexp(`^[\w\[(]`)
	listed = lazy.Regexp(`^\s*(?:[-*+]|\d+[.)]) `)
)

// documentOf looks at how a text begins: with headings, two at the least, the first of which is of
// the whole and names no fault. The forms of trackers begin with the third level.
func documentOf(start string) document {
	all := heading().FindAllStringSubmatch(fence().ReplaceAllString(strings.ReplaceAll(start, "\r\n", "\n"), ""), 2)
	return document{is: len(all) == 2 && !strings.HasPrefix(all[0][0], "###") && !reported().MatchString(all[0][0])}
}

// tells takes in a line, and reports whether it is of a document's sentences.
func (d *document) tells(l string) bool {
	bare, blank := strings.TrimSpace(l), d.blank
	d.blank = bare == ""
	if mark := strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"); mark || d.fenced {
		d.fenced = d.fenced != mark
		return false
	}
	d.shown = strings.HasPrefix(l, "    ") && (d.shown || blank) && !listed().MatchString(l)
	printed := d.blank || d.shown || begins().MatchString(l) && (raised().MatchString(l) || erred().MatchString(l))
	d.told = d.told || d.is && !printed
	return d.is && !printed
}
