package read

import (
	"slices"
	"strconv"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A reader takes facts from lines that match its expression (without regard to
// case). Each expression holds literals, so that few lines are tried.
type reader struct {
	expr string
	read func(r *Reader, m []string, said Evidence)
}

// says notes where a fact was read first, speaks where somebody speaks of something.
func says(at func(*Case) *Evidence) func(*Reader, []string, Evidence) {
	return func(r *Reader, _ []string, s Evidence) { r.say(at(r.c), s) }
}

func speaks(at func(*Case) *Evidence) func(*Reader, []string, Evidence) {
	return func(r *Reader, _ []string, s Evidence) { mark(at(r.c), s) }
}

// takes hands over what the groups hold: of alternatives one does.
func takes(take func(*Reader, string, Evidence)) func(*Reader, []string, Evidence) {
	return func(r *Reader, m []string, s Evidence) { take(r, strings.Join(m[1:], ""), s) }
}

// torchBy takes a version of torch, by how good its source is.
func torchBy(rank int) func(*Reader, []string, Evidence) {
	return func(r *Reader, m []string, s Evidence) { r.torch(m[1], rank, s) }
}

// waits: the next line is the value of a variable, or the answer to a call.
func waits(name string) func(*Reader, []string, Evidence) {
	return func(r *Reader, _ []string, _ Evidence) { r.wait = name }
}

var readers = slices.Concat(torchReaders, driverReaders, packageReaders, placeReaders, factReaders,
	interpreterReaders, useReaders, changeReaders, jobReaders, versionReaders, noteReaders, subjectReaders)

// once is the first of the readers that one line answers for the whole text; about, of those
// among them that tell what it is about, which a log's own lines may do below a warning.
var (
	about = len(readers) - len(subjectReaders)
	once  = about - len(noteReaders)
)

// Expressions are those of all readers of facts, in order.
func Expressions() []string {
	out := make([]string, len(readers))
	for i, r := range readers {
		out[i] = r.expr
	}
	return out
}

// The ranks of what names torch's version: what people write, what a list of
// packages says, what torch says itself.
const (
	ByProse = 1 + iota
	ByLabel // prose with a local label: copied from somewhere
	ByList
	ByTorch
)

// torchReaders read what torch says of itself: collect_env of every generation,
// Python sessions, and what people write about versions.
var torchReaders = []reader{
	{`(?:^|[^\w])(?:py)?torch version ?\**[:=]+[\s*]*v?(\d+\.\d+\S*|N/A)`, torchBy(ByTorch)},
	{`(\S+[/\\]torch)[/\\]__init__\.py['"]?,?(?:\s+['"]?(\d+\.\d+\.\d+[\w.+-]*))?`, func(r *Reader, m []string, s Evidence) {
		if !strings.Contains(s.Text, "File ") && r.c.Torch.Path == "" {
			r.c.Torch.Path = m[1]
			r.torch(m[2], ByTorch, s)
		}
	}},
	{`\btorch-(\d+\.\d+\S*?(?:\+|%2B)\w+(?:\.\d+)?)-cp3\d`, func(r *Reader, m []string, s Evidence) { // the name of a wheel
		r.torch(strings.Replace(m[1], "%2B", "+", 1), ByLabel, s)
	}},
	{
		`cuda\.device_count\(\)\W*(?:returns?|is|gives?|prints?|=+>?|->|:)?\W*0\b`,
		func(r *Reader, m []string, s Evidence) { r.available("False", s) },
	},
	{`(?:torch|th)\.__version__\W*(?:prints?|gives?|says|is|returns?|` +
		`shows?)?\W*v?(\d+\.\d+\.\d+[\w.+-]*)`, torchBy(ByTorch)},
	{`pytorch accelerator|PyTorch version \(GPU\?\): (\d+\.\d+\S*) \((True|False)\)`, func(r *Reader, m []string, s Evidence) {
		r.torch(m[1], ByTorch, s)
		r.available(m[2], s)
	}},
	{
		`PyTorch Version \(e\.g\.[^)]*\)\s*:?\W*v?(\d\.\d+(?:\.\d+)?[\w.+]*)`,
		func(r *Reader, m []string, s Evidence) { r.torch(strings.TrimRight(m[1], "."), ByList, s) },
	},
	{`(?:with|to|in) (?:torch\.)?cuda (?:not being|being not|becoming) (?:un)?available|cuda (?:is|` +
		`was) (?:still |always |just )?not available (?:in|to|for|from) (?:py)?torch|(?:py)?torch (?:does not|` +
		`doesn't|cannot|can't|did not|didn't) (?:see|detect|find|recogni[sz]e) (?:my |the |any |` +
		`a )?(?:GPUs?|cuda)\b`, func(r *Reader, m []string, s Evidence) {
		if r.c.Torch.AvailableAt.IsZero() {
			r.available("False", s)
		}
	}},
	{`CUDA used to build (?:Py)?torch\s*:\s*(.*)`, takes((*Reader).torchCUDA)},
	{`torch was compiled with (?:CUDA )?(\d+\.\d+)|used to compile PyTorch \((\d+\.\d+)\)`, takes((*Reader).torchCUDA)},
	{`torch\.(?:version\.cuda|cuda\.version)\W+(?:(?:is|says|` + gives + `)\W+)?(None|` +
		`\d+\.\d+)`, takes((*Reader).torchCUDA)},
	{`ROCM used to build PyTorch\s*:\s*(\d\S*)|torch\.version\.hip\W+(\d\S*)`, func(r *Reader, m []string, s Evidence) {
		r.c.Torch.HIP, r.c.Torch.NoCUDA = m[1]+m[2], false
	}},
	{`(?:Is CUDA available|CUDA available|GPU available)\s*[:=?]+\s*(True|Yes|False|No)\b`, takes((*Reader).available)},
	{isAvailable, func(r *Reader, m []string, s Evidence) {
		for _, m := range everyAvailable().FindAllStringSubmatch(r.whole, -1) {
			if m[1] == "" { // of CUDA, or of nothing that is named
				r.available(m[2], s)
			}
		}
	}},
	{`No CUDA runtime is found, using CUDA_HOME`, func(r *Reader, _ []string, s Evidence) { // the toolkit is there: torch asks is_available()
		r.available("False", s)
	}},
	{`print\((?:[\w.]+\(?\)?, ?)+[\w.]+\(?\)?\)`, func(r *Reader, m []string, s Evidence) { r.wait = printed(m[0]) }},
	{`print\([^,]*torch\.version\.cuda\)|^(?:>>> )?torch\.version\.cuda$`, waits("torch.version.cuda")},
	{`^(?:>>> )?torch\.version\.hip$`, waits("torch.version.hip")},
	{`\bpy3\.\d+_cuda(\d+\.\d+)\S*_cudnn`, func(r *Reader, m []string, s Evidence) { // a build string in prose
		if r.c.Torch.CUDA.IsZero() && !r.c.Torch.NoCUDA {
			r.torchCUDA(m[1], s)
		}
	}},
	{`print\([^,]*torch\.__version__\)|^(?:>>> )?torch\.__version__$`, waits("torch.__version__")},
	{`cuda\.is_ava\w{3,8}\b`, func(r *Reader, m []string, s Evidence) {
		if r.wait == "" && strings.HasSuffix(strings.TrimRight(s.Text, `"'`), ")") {
			r.wait = "is_available"
		}
	}},
	{`get_arch_list\(\)\W*gfx\d`, says(func(c *Case) *Evidence { return &c.From.GFXList })},
	{`(?:install supports CUDA capabilities|get_arch_list\(\)\W*|` +
		`CUDA Archs\s*:)((?:\W*sm_\d+[af]?)+)`, takes((*Reader).arches)},
	{`(?:^|[^\w.+/-])(?:py)?torch(?: ?version(?: is| was)?| ?build)?"?\s*(?:={1,3}|:|@|` +
		`,)?\s*["']?v?(\d\.\d+(?:\.\d+)?(?:\.dev\d+|\.post\d+|a0|rc\d+)?(?:\+git\w+)?)(\+[\w.]+| ?\(?(?:with |` +
		`for |and |\+ ?)?(?:cu|rocm)\d+\b)?`, func(r *Reader, m []string, s Evidence) { r.prose(m[1], m[2], s) }},
	{
		`\b(?:pip3?|uv|conda|mamba)\b.{0,24}\btorch\b\W{1,8}v?(\d\.\d+\.\d+) \(?(cu\d{2,3})\b`,
		func(r *Reader, m []string, s Evidence) { r.torch(m[1]+"+"+m[2], ByLabel, s) },
	},
	{`\((\d{1,2}\.\d)\) - \((\d{1,2}\.\d)\)`, func(r *Reader, m []string, s Evidence) {
		least, err := machine.ParseSM(m[1])
		most, err2 := machine.ParseSM(m[2])
		if err == nil && err2 == nil {
			r.c.Torch.Range, r.c.Torch.ArchesAt = []machine.SM{least, most}, s
		}
	}},
	{`(?:^|[\s(:,'"、，])v?([12]\.\d{1,2}\.\d\+(?:cpu|cu\d{2,3}))\b`, func(r *Reader, m []string, s Evidence) {
		if r.c.Torch.Rank == 0 && !others().MatchString(r.whole) { // "versão 2.8.0+cpu", in any language
			r.torch(m[1], ByProse, s)
		}
	}},
	{
		`pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)-cuda(\d+)\.(\d+)`,
		func(r *Reader, m []string, s Evidence) { r.torch(m[1]+"+cu"+m[2]+m[3], ByProse, s) },
	},
	{`torch-(\d+\.\d+\.\d+\+[\w.]+)-cp\d+`, torchBy(ByProse)},
	{`(\S.{1,60}?) with CUDA capability sm_(\d+)|GPU\d+ (.{1,60}?) which is of (?:compute|` +
		`cuda) capability (?:\(CC\) )?(\d+\.\d)`, func(r *Reader, m []string, s Evidence) {
		name, sm := m[1]+m[3], m[2]+m[4]
		if v, err := machine.ParseSM(sm); err == nil {
			r.capability(strings.TrimSpace(name[strings.LastIndex(name, ": ")+1:]), v, s)
		}
	}},
	{`(\d+(?:\.\d+)?) ([KMG]i?B)\.? .{0,40}total capacity|` +
		`total capaci?ty of (\d+(?:\.\d+)?) ([KMG]i?B)`, func(r *Reader, m []string, s Evidence) { r.memory(s) }},
	{`OutOfMemory|out of memory|would exceed allowed memory`, func(r *Reader, m []string, s Evidence) { r.memory(s) }},
	{`\bOOM\b`, says(func(c *Case) *Evidence { return &c.Says.OutOfMemory })},
	{freeWords, says(func(c *Case) *Evidence { return &c.Says.MemoryFree })},
}

// freeWords are what people write of a GPU that has room.
const freeWords = `\b\d+(?:\.\d+)? ?(?:GB|GiB|G|MB|MiB)?\W{0,2}(?:of|out of|from|/) ?\d+(?:\.\d+)? ?(?:GB|GiB|G|MB|MiB)\b.{0,24}\bfree\b|` +
	`\b\d+(?:\.\d+)? ?(?:GB|GiB|G) (?:\w+ )?(?:is |are |still )*free\b|` +
	`\b(?:plenty|lots?|enough|most|much|more than enough|sufficient|a ton) (?:of )?(?:the |my |its )?(?:free |GPU |video |unused )*(?:V?RAM|memory)\b|` +
	`\b(?:GPUs?|V?RAM|memory|card)\b(?: \w+){0,3} (?:nearly|almost|completely|totally|mostly|basically|entirely) (?:empty|free|idle|unused)\b|` +
	`\b(?:GPUs?|V?RAM|GPU memory|card) (?:is|are|was|were) (?:still )?(?:empty|free|unused)\b|` +
	`\b(?:nothing|no(?:thing)? (?:else|other)|no process\w*|nobody) (?:is |are )?(?:else )?(?:running|using|runs|uses)\b.{0,24}\b(?:GPUs?|card|it)\b`

// isAvailable is what people write of torch.cuda.is_available(), several times in
// a line where one machine is set against another.
const isAvailable = `(\bmps\.|\bxpu\.)?\bis_ava\w{3,8}\b\W*(?:(?:is|was|it|which|that|and|still|always|now|only|just|keeps?|me) )*(?:` + gives +
	`|is|was|says|said|evaluates to|=+>?|->|:|ist|est|es|\x{662f}|\x{4e3a}|\x{304c}|\x{306f})?` +
	`(?: me| still| always)?\W*(True|False)\b`

// gives is what people write between a call and what it returned.
const gives = `returns?|returning|returned|gives?|giving|gave|prints?|printing|shows?|outputs?|gibt|liefert|ergibt|` +
	`renvoie|retourne|donne|affiche|devuelve|da|muestra|retorna|mostra|` +
	`\x{432}\x{43e}\x{437}\x{432}\x{440}\x{430}\x{449}\x{430}\x{435}\x{442}|` +
	`\x{432}\x{44b}\x{434}\x{430}\x{451}\x{442}|\x{432}\x{44b}\x{434}\x{430}\x{435}\x{442}|` +
	`\x{8fd4}\x{56de}|\x{8f93}\x{51fa}`

var everyAvailable = lazy.Regexp("(?i)" + isAvailable)

// others are lines that speak of another package, or of several versions.
var others = lazy.Regexp(`(?i)torch(?:audio|vision|text|data|codec|ao)|vllm|xformers|jax|triton|from versions|\+c\w+.*\+c\w+`)

// printed is the list of what one print call shows, for its answer in the next
// line; what is of no interest is a dash.
func printed(call string) string {
	var names []string
	call = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(call), "print("), ")")
	for arg := range strings.SplitSeq(call, ",") {
		switch arg = strings.TrimSpace(arg); {
		case strings.Contains(arg, "is_ava"):
			arg = "is_available"
		case arg != "torch.__version__" && arg != "torch.version.cuda":
			arg = "-"
		}
		names = append(names, arg)
	}
	return strings.Join(names, ",")
}

// notThere is an installer that finds no such version.
var notThere = lazy.Regexp(`(?i)\bno version of torch|could not find a version|no matching distribution`)

// torch notes a version of torch. What torch says itself wins over a list of
// packages, and that over what people write.
func (r *Reader) torch(v string, rank int, s Evidence) {
	t := &r.c.Torch
	if notThere().MatchString(s.Text) {
		if strings.HasPrefix(v, t.Version) && t.Rank <= ByLabel { // it was asked for, and is not here
			t.Version, t.Label, t.Rank, t.NoCUDA, t.CUDA = "", "", 0, false, version.Dotted{}
		}
		return
	}
	if rank == ByTorch && t.Rank == ByTorch && t.SeesGPU() && !strings.HasPrefix(v, t.Version) {
		*t = Torch{} // the one before saw the GPU: what fails is another
	}
	if v == "" || rank <= t.Rank {
		return
	}
	if v == "N/A" {
		t.VersionAt = s
		return
	}
	public, label := version.SplitLocal(strings.TrimRight(v, ".,;:)'\"`"))
	if strings.HasPrefix(label, "git") {
		label = ""
	}
	t.Version, t.VersionAt, t.Rank = public, s, rank
	t.setLabel(label)
}

// setLabel takes over what a local label says about the build.
func (t *Torch) setLabel(label string) {
	t.Label = label
	cuda, isCUDA := LabelCUDA(label)
	switch {
	case label == "cpu":
		t.NoCUDA, t.CUDA, t.CUDAAt = true, version.Dotted{}, t.VersionAt
	case isCUDA:
		t.NoCUDA, t.CUDA, t.CUDAAt = false, cuda, t.VersionAt
	case strings.HasPrefix(label, "rocm"):
		t.HIP, t.NoCUDA = strings.TrimPrefix(label, "rocm"), false
	}
}

// prose is torch with words around it: "worked with torch 2.6" is not the torch
// that is here.
func (r *Reader) prose(v, label string, s Evidence) {
	text := strings.ToLower(s.Text)
	about := clause(text, v)
	for _, w := range []string{
		"work", "tried", "requires torch", "instead", "fixed", "support", "before:", "was built", "needs",
		"need torch", "upgrade to", "downgrade to", "newer than", "older than", "(the user",
	} {
		if strings.Contains(about, w) {
			return
		}
	}
	label = strings.TrimLeft(strings.ToLower(label), " (+")
	for _, w := range []string{"with ", "for ", "and "} {
		label = strings.TrimPrefix(label, w)
	}
	rank := ByProse
	if label != "" {
		v, rank = v+"+"+label, ByLabel
	}
	if strings.HasPrefix(text, "pip") || strings.HasPrefix(text, "conda") || strings.Contains(text, " install ") {
		rank = ByProse // what was asked for is not what is there
	}
	r.torch(v, rank, s)
}

// clause is the part of a line that holds a word: between semicolons, brackets
// and full stops.
func clause(text, word string) string {
	i := strings.Index(text, word)
	if i < 0 {
		return text
	}
	from := max(strings.LastIndexAny(text[:i], ";("), strings.LastIndex(text[:i], ". "))
	to := i + len(word)
	if n := strings.IndexAny(text[to:], ";)"); n >= 0 {
		return text[from+1 : to+n]
	}
	return text[from+1:]
}

func (r *Reader) torchCUDA(v string, s Evidence) {
	t := &r.c.Torch
	v = strings.TrimSpace(v)
	switch v = head(v, 40); {
	case v == "None" || v == "Could not collect":
		if t.HIP == "" {
			t.NoCUDA, t.CUDAAt = true, s
		}
	case v == "N/A":
	default:
		if d, err := version.ParseDotted(strings.TrimRight(v, ".,")); err == nil {
			t.CUDA, t.NoCUDA, t.CUDAAt = d, false, s
		}
	}
}

func (r *Reader) available(v string, s Evidence) {
	if v == "" {
		return
	}
	yes := strings.EqualFold(v, "true") || strings.EqualFold(v, "yes")
	if !r.c.Torch.AvailableAt.IsZero() && yes {
		return // the failure is what it is about
	}
	r.c.Torch.Available, r.c.Torch.AvailableAt = &yes, s
}

func (r *Reader) arches(list string, s Evidence) {
	t := &r.c.Torch
	t.Arches = nil
	for _, f := range strings.FieldsFunc(list, func(c rune) bool {
		return !(c == '_' || c >= '0' && c <= '9' ||
			c >= 'a' && c <= 'z')
	}) {
		if sm, err := machine.ParseSM(strings.TrimRight(f, "af")); err == nil {
			t.Arches = append(t.Arches, sm)
		}
	}
	t.ArchesAt = s
}

// labelCUDA is 12.6 of cu126.
func LabelCUDA(label string) (version.Dotted, bool) {
	d, ok := strings.CutPrefix(label, "cu")
	d = strings.TrimPrefix(d, "da")
	if !ok || len(d) < 2 || len(d) > 3 || strings.Trim(d, "0123456789") != "" {
		return version.Dotted{}, false
	}
	v, err := version.ParseDotted(d[:len(d)-1] + "." + d[len(d)-1:])
	return v, err == nil
}

// public is a version without its local label.
func Public(v string) string {
	p, _ := version.SplitLocal(v)
	return p
}

// Atoi is a number; -1 none.
func Atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return -1
	}
	return n
}
