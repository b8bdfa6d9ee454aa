package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"envfix/internal/text"
)

func pct(v float64) string { return fmt.Sprintf("%.0f %%", v*100) }

// round keeps three significant digits: more would claim what a sampler at
// 5 Hz cannot know.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	p := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*p) / p
}

// seconds writes a time as people say it: 4.1 ms, 42 s, 3 h 10 min.
func seconds(s float64) string {
	switch {
	case s < 0.0995:
		return fmt.Sprintf("%.3g ms", round(s*1e3))
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	case s < 7200:
		return fmt.Sprintf("%.0f min", s/60)
	default:
		return fmt.Sprintf("%d h %d min", int(s)/3600, int(s)%3600/60)
	}
}

func mib(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d MiB", n)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/1024)
}

// count writes 86000000 as 86 M.
func count(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f G", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f M", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// rewrite proposes a DataLoader call with other arguments: the user's own line
// as a diff where the call ends on it, else the arguments alone.
func rewrite(l Loader, args ...[2]string) []string {
	out := []string{"DataLoader(…, " + joined(args) + ")"}
	line := strings.TrimRight(l.Source, " \t\r\n")
	open := strings.Index(line, "DataLoader(")
	if strings.Count(line, "DataLoader(") != 1 || strings.ContainsAny(line, "\n\x00") || strings.Contains(line[open:], "**") ||
		installed(l.Where) { // a library's line is not the user's to change
		return out
	}
	given, end := arguments(line, open+len("DataLoader("))
	if end < 0 {
		return out
	}
	for _, a := range args {
		if at := slices.IndexFunc(given, func(s string) bool { return strings.HasPrefix(strings.ReplaceAll(s, " ", ""), a[0]+"=") }); at >= 0 {
			key, _, _ := strings.Cut(given[at], "=")
			given[at] = key + "=" + a[1]
			continue
		}
		given = append(given, " "+a[0]+"="+a[1])
	}
	changed := line[:open] + "DataLoader(" + strings.TrimLeft(strings.Join(given, ","), " ") + line[end:]
	return append(out, fmt.Sprintf("%s\n- %s\n+ %s", l.Where, strings.TrimSpace(line), strings.TrimSpace(changed)))
}

// joined writes arguments as a call has them.
func joined(args [][2]string) string {
	return strings.Join(text.Each(args, func(a [2]string) string { return a[0] + "=" + a[1] }), ", ")
}

// arguments are those of the call whose parenthesis opens before from, and where it
// closes; -1: not on this line, or the line holds strings that may hide that.
func arguments(line string, from int) (args []string, end int) {
	depth, start := 0, from
	for i := from; i < len(line); i++ {
		switch c := line[i]; {
		case strings.IndexByte("\"'#", c) >= 0:
			return nil, -1
		case depth == 0 && strings.IndexByte(",)]}", c) >= 0:
			if said := strings.TrimRight(line[start:i], " "); said != "" {
				args = append(args, said)
			}
			if start = i + 1; c != ',' {
				return args, i
			}
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return nil, -1
}
