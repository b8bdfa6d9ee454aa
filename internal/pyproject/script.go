package pyproject

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/text"
)

// An Install is a line of a script, a Dockerfile or a README that installs packages.
type Install struct {
	Line  int
	Text  string   // as it is written, cut
	Words []string // the packages that it names, without options
	Index string   // of --index-url or --extra-index-url; "" none
	Conda bool     // conda installs: Words are torch's family alone, in pip's names

	Section int  // the line of the heading that it stands below; 0 none
	Prose   bool // it stands in a sentence
}

// Torch is the first of its packages that is torch; "" none.
func (i Install) Torch() string { return namesTorch(i.Words) }

// Installs finds the lines that call `pip install` with packages by name. They are hints:
// nothing is known of when they run.
func Installs(content []byte) []Install {
	var out []Install
	section, fenced := 0, false
	for start, line := range logical(content) {
		fenced = fenced != (strings.Count(line, "```")%2 == 1)
		if !fenced && strings.HasPrefix(strings.TrimLeft(line, "#"), " ") && line[0] == '#' {
			section = start
		}
		for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
			if i, ok := install(part); ok && len(out) < 100 {
				i.Line, i.Section = start, section
				out = append(out, i)
			}
		}
	}
	return out
}

// condaInstall reads what follows `conda install`.
func condaInstall(rest string) (i Install, ok bool) {
	rest, _, _ = strings.Cut(rest, "`")
	i = Install{Text: text.Cut("conda install "+strings.TrimSpace(rest), 200), Conda: true}
	option := false // its value follows: -c pytorch
	for _, w := range strings.Fields(rest) {
		value := option
		if option = strings.HasPrefix(w, "-") && w != "-y"; option || value {
			continue
		}
		parts := strings.FieldsFunc(strings.Trim(w, `"'`), func(r rune) bool { return r == '=' })
		if len(parts) == 0 {
			continue
		}
		if parts[0] = strings.Replace(parts[0], "pytorch", "torch", 1); isTorch(parts[0]) {
			i.Words = append(i.Words, strings.Join(parts[:min(len(parts), 2)], "=="))
		}
	}
	return i, len(i.Words) > 0
}

// prompt is what stands before a command that is not a part of a sentence.
var prompt = lazy.Regexp("^[\\s`$>!%*-]*(RUN |sudo |uv |\\w+=\\S* |(\\S*/)?python[0-9.]* -m )*$")

// installers are other programs that install as pip does; mim is OpenMMLab's.
var installers = strings.NewReplacer("pip3 install ", "pip install ", "mim install ", "pip install ")

// install reads one command.
func install(s string) (i Install, ok bool) {
	if _, rest, ok := strings.Cut(s, "conda install "); ok && !strings.HasPrefix(strings.TrimSpace(s), "#") {
		return condaInstall(rest)
	}
	before, rest, ok := strings.Cut(installers.Replace(s), "pip install ")
	if !ok || strings.HasPrefix(strings.TrimSpace(s), "#") {
		return i, false
	}
	rest, _, _ = strings.Cut(rest, "`")
	i.Text, i.Prose = text.Cut("pip install "+strings.TrimSpace(rest), 200), !prompt().MatchString(before)
	words := strings.Fields(rest)
	for at := 0; at < len(words); at++ {
		w := strings.Trim(words[at], `"'`)
		key, value, assigned := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "#"):
			at = len(words)
		case slices.Contains([]string{"--index-url", "--extra-index-url", "-i"}, key):
			if !assigned && at+1 < len(words) {
				at++
				value = words[at]
			}
			i.Index = strings.Trim(value, `"'`)
		case slices.Contains([]string{"-r", "-f", "-e", "-c", "--find-links"}, w):
			at++
		case strings.IndexAny(w, "-.") == 0 || strings.ContainsAny(w, "/$(){}|&\\"):
		default:
			if _, err := pep508.Parse(w, ""); err != nil {
				return i, false // a sentence that speaks of installing
			}
			i.Words = append(i.Words, w)
		}
	}
	return i, len(i.Words) > 0
}
