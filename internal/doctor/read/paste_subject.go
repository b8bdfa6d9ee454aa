package read

import "slices"

// A subject is what a text is about, as far as its words tell.
type subject struct {
	gpu      bool // it names a GPU, or what computes on one
	computes bool // … a program that computes, or a driver's tool
	plays    bool // games, films, a screen
	version  bool // a heading that names a version, as a list of changes has it
	news     bool // the text begins as a list of changes does
	changes  int  // lines of such a list
	trouble  bool // something is wrong
	asks     bool // … in so many words, or somebody asks
	wishes   bool // somebody asks for a feature
}

// trouble is a word that something is wrong.
const trouble = `\berrors?\b|\bfail|\bnot\b|n['’]t\b|\bcannot\b|\bcrash|\bhang|\bhung\b|\bstuck\b|\bslow|\bwrong|` +
	`\bFalse\b|\bunable\b|\bstop(?:s|ped)\b|\blos[te]|\bgone\b|\bbroken|\bbreaks?\b|\bissues?\b|\bproblem|` +
	`\bno longer\b|\bdowngrad|\binstead\b|\bonly\b|\bwhy\b|\bmissing\b|\bold(?:er)?\b|\bunsupported|` +
	`\bincompatib|\bwithout\b|\brefused\b|\btimed? ?out\b`

// subjectReaders tell what a text is about: one line of it is enough.
var subjectReaders = []reader{
	{`gpu|cuda|nvidia|nouveau|nvml|cudnn|cublas|nccl|torch|rocm|radeon|amdgpu|\bhip\b|hipcc|miopen|\bgfx\d|` +
		`geforce|\b[rg]tx\b|\b[rg]tx ?\d|quadro|tesla|jetson|tegra|jetpack|\bxpu\b|\bipex\b|\bmps\b|\bmig\b|` +
		`\bxid\b|vram|(?:graphics|video|display) (?:card|adapter|driver)|triton|tensorflow|\bjax|xformers|` +
		`flash.?attn|bitsandbytes|\bvllm|comfyui|diffusion|whisper|onnxruntime|ctranslate2|faiss|\bmmcv|` +
		`detectron|显卡|显存`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.gpu = true }},
	{`torch|cuda|nvidia-smi|nvml|\bpython|\bpip\b|conda|docker|tensor|\btrain|\binfer|\bmodel|lspci|dkms|` +
		`modprobe|dmesg|\bXid\b|rocm|comfyui|diffusion|whisper|blender|\bjax|ffmpeg|opencl`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.computes = true }},
	{`\bgames?\b|\bgaming\b|\bminecraft\b|\bfps\b|\bSteam\b|DirectX|\bDX1[12]\b|Vulkan|OpenGL|\bDDU\b|` +
		`black screen|flicker|\b(?:HDMI|DisplayPort)\b|\b(?:browser|chrome|firefox|youtube)\b|crashes to desktop`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.plays = true }},
	{`\bfeature request|\b(?:please|pls) (?:add|support|consider|implement)\b|` +
		`\bwould be (?:nice|great)\b`, func(r *Reader, _ []string, _ Evidence) { r.subject.wishes = true }},
	{trouble, func(r *Reader, _ []string, _ Evidence) { r.subject.trouble = true }},
	{
		`^#{1,3} \[?v?\d+\.\d+|\bchange ?log\b|release notes|what'?s (?:new|changed)`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.version = true },
	},
	{`\btraceback\b|error|\bfail|exception|abort|crash|segfault|segmentation fault|core dumped|\bkilled|\bhang|\bhung|stuck|time[ -]?out|timed out|slow|` +
		`\bwhy\b|wrong|n['’]t\b|\bnot (?:work|us|found|detect|see)|\bproblem|\bissue|\bhelp\b|[?？]\s*$`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.asks = true }},
}

// noteReaders note the first line that says what nothing after it says better.
var noteReaders = []reader{
	{notSeen, func(r *Reader, m []string, s Evidence) {
		if !r.subject.version && !r.subject.news {
			mark(&r.c.Says.NotSeen, s)
		}
	}},
	{unseenInWords, speaks(func(c *Case) *Evidence { return &c.Says.Unseen })},
}

// changeReaders tell a list of changes.
var changeReaders = []reader{
	{
		`^\W*(?:change ?log|release notes|what'?s (?:new|changed))\b`,
		func(r *Reader, _ []string, _ Evidence) { r.subject.news = r.subject.news || r.line <= 3 },
	},
	{`^\s*[-*•] \W{0,3}(?:\w+: )?(?:fix(?:e[sd])?|add(?:s|ed)?|bump(?:s|ed)?|remov(?:es?|ed)|updat(?:es?|ed)|` +
		`improv(?:es?|ed)|support(?:s|ed)?|drop(?:s|ped)?|deprecat\w+|introduc\w+|chang(?:es?|ed)|refactor\w*|` +
		`the|new)\b`, func(r *Reader, _ []string, _ Evidence) { r.subject.changes++ }},
}

// elsewhere reports whether a text is about something else than a GPU that computes:
// people's words, the clues, are too common to mean anything there. So is a text of
// more than shortText lines that names no GPU, and nothing that computes on one (in a
// few lines people may leave out what they speak of), one on games and screens alone,
// and a list of changes.
func (r *Reader) elsewhere() bool {
	s := r.subject
	return !s.gpu && r.lines > shortText || s.plays && !s.computes || s.version && s.changes > 1 || s.news &&
		len(r.c.Hits) == 0
}

// forgetOthers drops what programs of every kind bring about: an installer that finds
// no version of a package, a library that misses a symbol, and a display driver that a game stops.
func (r *Reader) forgetOthers() {
	s := r.subject
	r.c.Hits = slices.DeleteFunc(r.c.Hits, func(h Hit) bool {
		anybodys := h.Message.ID == "pip-no-version" || h.Message.ID == "uv-no-platform-wheel" ||
			h.Message.ID == "extension-abi"
		return anybodys && !s.gpu || h.Message.ID == "nvlddmkm" && s.plays && !s.computes
	})
}
