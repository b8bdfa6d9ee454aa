package know

import "strings"

// alternatives splits an expression at the bars that stand in no group and no class.
func alternatives(expr string) []string {
	if !strings.Contains(expr, "|") {
		return []string{expr}
	}
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(expr); i++ {
		switch expr[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(expr, i)
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, expr[from:i])
				from = i + 1
			}
		}
	}
	return append(out, expr[from:])
}

// classEnd is where the class of characters ends that begins at a place.
func classEnd(expr string, i int) int {
	i++
	if strings.HasPrefix(expr[i:], "^") {
		i++
	}
	if strings.HasPrefix(expr[i:], "]") { // it stands for itself
		i++
	}
	for ; i < len(expr) && expr[i] != ']'; i++ {
		if expr[i] == '\\' {
			i++
		} else if strings.HasPrefix(expr[i:], "[:") {
			i += max(strings.Index(expr[i:], ":]"), 0) + 1
		}
	}
	return i
}
