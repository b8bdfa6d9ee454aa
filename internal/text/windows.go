package text

import (
	"strings"

	"envfix/internal/lazy"
)

var (
	unsets   = lazy.Regexp("`unset ([A-Z_]+)`")
	exports  = lazy.Regexp("`(?:export )?([A-Z_]{4,})=\"?([^`\" ]+)\"?`")
	prefixed = lazy.Regexp("(`|; )([A-Z_]{4,})=(?:\"([^`\"]+)\"|'([^`']+)'|([^` \"']+)) ")
	chained  = lazy.Regexp("(`[^`]*?) && ([^`]*`)")
)

// OnWindows writes commands of a shell of Linux as those of PowerShell.
func OnWindows(way string) string {
	way = unsets().ReplaceAllString(way, "`Remove-Item Env:$1`")
	way = exports().ReplaceAllString(way, "`$$env:$1 = \"$2\"`")
	way = prefixed().ReplaceAllString(way, "$1$$env:$2 = \"$3$4$5\"; ")
	way = prefixed().ReplaceAllString(way, "$1$$env:$2 = \"$3$4$5\"; ") // the second of two
	way = chained().ReplaceAllString(way, "$1; $2")                     // PowerShell 5.1 has no &&
	return strings.ReplaceAll(way, "`pip ", "`python -m pip ")
}
