package propose

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/resolver"
)

// A removed is a module that a package of torch's family has no more.
type removed struct{ module, since string }

// removals are the modules that people's sources still import, of those that the
// directories of the wheels of one release have and of the next one have not.
func removals() []removed {
	return []removed{
		{"torch._six", "2.0"},
		{"torch.autocast_mode", "1.12"},
		{"torch.utils.ffi", "1.12"},
		{"torchaudio.backend", "2.9"},
		{"torchaudio.io", "2.9"},
		{"torchaudio.kaldi_io", "2.9"},
		{"torchaudio.prototype", "2.9"},
		{"torchaudio.sox_effects", "2.9"},
		{"torchtext.legacy", "0.12"},
		{"torchvision.datapoints", "0.16"},
		{"torchvision.models.segmentation.segmentation", "0.14"},
		{"torchvision.models.utils", "0.11"},
		{"torchvision.prototype", "0.23"},
		{"torchvision.transforms.functional_pil", "0.17"},
		{"torchvision.transforms.functional_tensor", "0.17"},
	}
}

// imported finds a module that is imported whatever is there: in a try, or where it is
// used, the line is indented.
var imported = lazy.Regexp(`(?m)^(?:from|import) +((?:torch|torchvision|torchaudio|torchtext)\.[a-z_.]+)`)

// stale are the limits that a source text sets by what it imports: "torchvision<0.17".
func stale(source []byte) (limits []string) {
	for _, m := range imported().FindAllSubmatch(source, -1) {
		for _, r := range removals() {
			if name := string(m[1]); name == r.module || strings.HasPrefix(name, r.module+".") {
				family, _, _ := strings.Cut(name, ".")
				limits = append(limits, family+"<"+r.since)
			}
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// heed keeps torch's family at what a package that is built imports of it, where that
// runs here, and says so; else that it will not be found.
func (l *Loop) heed(a *Answer, r resolver.Request, s *Source) {
	for _, limit := range s.Stale {
		q, err := pep508.Parse(limit, "")
		if err != nil || slices.Contains(a.Limits, limit) {
			continue
		}
		why := fmt.Sprintf("%s %s imports what %s has no more since %s", s.Name, s.Version, q.Name, strings.TrimPrefix(q.Spec.String(), "<"))
		b := a.clone()
		b.Limits = append(b.Limits, limit)
		res, err := l.Resolve(b.Judged(r))
		if (err != nil || !runs(res)) && r.Python == "" { // an older torch may be for an older Python
			b.Python = ""
			res, err = l.Resolve(b.Judged(r))
		}
		if err != nil || !runs(res) {
			a.say("%s, and none before it runs here: that import fails", why)
			continue
		}
		a.Limits, a.Python = b.Limits, res.Choice.Python
		a.say("%s: %s", why, limit)
	}
}
