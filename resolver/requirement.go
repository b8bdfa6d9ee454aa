package resolver

import (
	"fmt"
	"regexp"
	"strings"

	"envfix/internal/version"
)

var (
	// PEP 508: a name begins and ends with a letter or digit.
	requirementName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)
	nameRuns        = regexp.MustCompile(`[-_.]+`)
	localLabel      = regexp.MustCompile(`^(={2,3}\s*[^+\s]+)\+([A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)$`)
)

// NormalizeName returns a package name in the form of PEP 503: lower case, runs
// of "-", "_" and "." as one "-".
func NormalizeName(name string) string {
	return strings.ToLower(nameRuns.ReplaceAllString(name, "-"))
}

// ParseRequirement reads one PEP 508 requirement, such as "torch==2.9.1+cu126",
// "vllm[flashinfer]>=0.10; sys_platform == 'linux'" or "name @ https://…". from
// is the file and line it was written in, "" for the command line. Its error
// names the text.
func ParseRequirement(text, from string) (Requirement, error) {
	q := Requirement{Text: strings.TrimSpace(text), From: from}
	bad := func(why string) (Requirement, error) {
		at := ""
		if from != "" {
			at = from + ": "
		}
		return Requirement{}, fmt.Errorf("%s%q is not a requirement: %s", at, clip(text), why)
	}
	if len(text) > 400 {
		return bad("it is longer than 400 characters")
	}
	name := requirementName.FindString(q.Text)
	if name == "" {
		return bad("it does not begin with a package name")
	}
	q.Name = NormalizeName(name)
	rest := strings.TrimSpace(q.Text[len(name):])
	if strings.HasPrefix(rest, "[") {
		extras, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			return bad("its extras lack a closing bracket")
		}
		for e := range strings.SplitSeq(extras, ",") {
			if e = strings.TrimSpace(e); requirementName.FindString(e) != e {
				return bad("its extras are not names")
			} else if e != "" {
				q.Extras = append(q.Extras, NormalizeName(e))
			}
		}
		rest = strings.TrimSpace(after)
	}
	if url, ok := strings.CutPrefix(rest, "@"); ok {
		url, q.Marker, _ = strings.Cut(strings.TrimSpace(url), " ;")
		if q.URL = strings.TrimSpace(url); q.URL == "" || strings.ContainsAny(q.URL, " \t\n") {
			return bad("it has no URL behind the @")
		}
		q.Marker = strings.TrimSpace(q.Marker)
		return q, nil
	}
	spec, marker, _ := strings.Cut(rest, ";")
	q.Marker = strings.TrimSpace(marker)
	spec = strings.TrimSpace(spec)
	if inner, ok := strings.CutPrefix(spec, "("); ok {
		if spec, ok = strings.CutSuffix(inner, ")"); !ok {
			return bad("its version lacks a closing parenthesis")
		}
	}
	if m := localLabel.FindStringSubmatch(spec); m != nil {
		spec, q.Label = m[1], strings.ToLower(m[2])
	}
	if spec != "" && !strings.ContainsAny(spec[:1], "=<>!~") {
		return bad("a version follows an operator such as ==")
	}
	var err error
	if q.Spec, err = version.ParseSpecifier(spec); err != nil {
		return bad("its version is not a PEP 440 specifier")
	}
	return q, nil
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
