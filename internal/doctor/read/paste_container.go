package read

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// A Workload is one container as text describes it: a service of a compose file,
// a container of a pod, or a command line that starts one.
type Workload struct {
	Kind   string // compose, pod, docker, apptainer
	Name   string // of the service or container, or the program that starts it
	About  string // its image and command: what tells whether it wants a GPU
	Image  string // with the name of who publishes it; "" not told, or without
	Asks   string // how it asks for a GPU, in its own words; "" it does not
	Wants  bool   // it names devices of a driver: a reservation, to be judged by Capability
	GPUCap bool   // … with the capability gpu
	Class  bool   // a pod whose runtime class is named
	Only   string // what it asks with that does not count: requests without limits
	At     Evidence
}

// containers reads what describes containers, line by line. Text is pasted in
// pieces, cut off and between other text, so no parser of the whole would do: the
// indentation tells what belongs together.
type containers struct {
	path     []level
	kube     bool // the lines are of a Kubernetes manifest
	class    bool // … whose runtimeClassName is NVIDIA's
	variable string
	out      []*Workload
	now      *Workload
	indent   int      // of the direct keys of now
	command  string   // a command line that goes on
	said     Evidence // where it began

	file       Evidence // FROM: a Dockerfile
	base       string   // its last base image
	run        bool     // the line before goes on, of a RUN
	cpuIndex   Evidence
	driver     Evidence
	buildCheck Evidence
}

// A level is one key on the way to a line.
type level struct {
	indent int
	key    string
}

var (
	starts = lazy.Regexp(`^(?:sudo +)?(docker|podman|nerdctl|apptainer|singularity) +(?:container +)?(run|` +
		`create|exec|shell)\b(.*)$`)
	from     = lazy.Regexp(`^FROM +(?:--platform=\S+ +)?(\S+)(?: +[aA][sS] +\S+)?$`)
	envSpace = lazy.Regexp(`^ENV +(NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|CUDA_VISIBLE_DEVICES) +(\S+)$`)
	image    = lazy.Regexp(`^(?:[\w.-]+(?::\d+)?/)+[\w.-]+(?::[\w.-]+)?$`)
	drivers  = lazy.Regexp(`\b(nvidia-driver-\d+\S*|nvidia-driver|libnvidia-compute-\d+\S*|nvidia-utils-\d+\S*|` +
		`cuda-drivers\S*)(?:\s|\\|$)`)
)

// container takes in one cleaned line, its leading blanks as they were.
func (r *Reader) container(l string, said Evidence) {
	d := &r.deploy
	if d.command != "" {
		d.goOn(l)
		return
	}
	if d.starts(l, said) || d.dockerfile(r, strings.TrimSpace(l), said) {
		return
	}
	y := yamlLine(l)
	switch {
	case y.key != "":
		d.key(r, y, said)
	case y.item:
		d.item(r, y.indent, strings.Trim(y.value, `"' `), said)
	case !strings.HasPrefix(strings.TrimSpace(l), "#"):
		d.leave(0)
	}
}

// starts takes in a line that starts a container; it reports whether it was one.
func (d *containers) starts(l string, said Evidence) bool {
	if !strings.Contains(l, " run") && !strings.Contains(l, " create") && !strings.Contains(l, " exec") &&
		!strings.Contains(l, " shell") {
		return false // most lines of most texts
	}
	m := starts().FindStringSubmatch(unprompt(l))
	if m == nil {
		return false
	}
	d.leave(0)
	if m[2] == "exec" && m[1] != "apptainer" && m[1] != "singularity" {
		return true // the container runs already
	}
	d.said, d.command = said, m[1]+" "+m[2]
	d.goOn(m[3])
	return true
}

// A yamlText is one line read as YAML's: "key: value", or "- value" of a list; the
// zero yamlText is neither.
type yamlText struct {
	marker, indent int // of the first "-", or of the key; of the key or value
	key, value     string
	item           bool // begins with "-"
}

func yamlLine(l string) yamlText {
	at := len(l) - len(strings.TrimLeft(l, " "))
	y := yamlText{marker: at}
	for strings.HasPrefix(l[at:], "- ") {
		y.item = true
		at += 2 + len(l[at+2:]) - len(strings.TrimLeft(l[at+2:], " "))
	}
	y.indent, y.value = at, l[at:]
	key, value, ok := strings.Cut(y.value, ":")
	key = strings.Trim(strings.TrimRight(key, " "), `"'`)
	if !ok || value != "" && value[0] != ' ' || key == "" || strings.IndexFunc(key, notInKey) >= 0 {
		return y
	}
	y.key, y.value = key, value
	return y
}

// notInKey is what the keys that matter here do not hold.
func notInKey(c rune) bool {
	return c != '_' && c != '.' && c != '/' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
		(c < 'a' || c > 'z')
}

// leave ends what is indented by indent or more.
func (d *containers) leave(indent int) {
	for len(d.path) > 0 && d.path[len(d.path)-1].indent >= indent {
		d.path = d.path[:len(d.path)-1]
	}
	if d.now != nil && indent < d.indent {
		d.now = nil
	}
	if indent == 0 && len(d.path) == 0 {
		d.variable = ""
	}
}

// under reports whether a key is on the way to the line.
func (d *containers) under(key string) bool {
	return slices.ContainsFunc(d.path, func(l level) bool { return l.key == key })
}

// key takes in "key: value", also as the first of a list's item.
func (d *containers) key(r *Reader, y yamlText, said Evidence) {
	indent, key, value := y.indent, y.key, strings.Trim(strings.TrimSpace(y.value), `"'`)
	if y.item {
		d.leave(y.marker + 1) // the item before ends
	}
	d.leave(indent)
	switch {
	case key == "apiVersion", key == "kind" && indent == 0 && !d.kube:
		d.kube, d.class = true, false
	case key == "services" && value == "":
		d.kube = false
	case key == "runtimeClassName" && strings.Contains(value, "nvidia"):
		d.class = true
		for _, w := range xslices.Filter(d.out, func(w *Workload) bool { return w.Kind == "pod" }) {
			w.Class, w.Asks = true, cmp.Or(w.Asks, "runtimeClassName: "+value)
		}
	}
	if key == "image" || key == "build" && !d.under("build") {
		d.begin(indent, said)
	}
	if d.now != nil && indent >= d.indent {
		d.fact(r, key, value, said)
	}
	d.path = append(d.path, level{indent, key})
}

// begin starts a container at the first of its keys that tells what it is: what
// stands above it at the same indentation is its too.
func (d *containers) begin(indent int, said Evidence) {
	if d.now != nil && d.indent == indent {
		return
	}
	w := &Workload{Kind: "compose", At: said}
	for _, l := range slices.Backward(d.path) {
		if l.indent < indent {
			w.Name = l.key
			break
		}
	}
	if d.kube || w.Name == "containers" || w.Name == "initContainers" {
		if w.Kind, w.Class = "pod", d.class; d.class {
			w.Asks = "runtimeClassName"
		}
	}
	d.now, d.indent, d.out = w, indent, append(d.out, w)
}

// device takes in one key of a list of devices; false for one that tells nothing.
func (w *Workload) device(key, value string) bool {
	known := key == "capabilities" || key == "driver" && (value == "nvidia" || value == "cdi")
	w.Wants = w.Wants || known
	w.GPUCap = w.GPUCap || key == "driver" && value == "cdi" || key == "capabilities" && strings.Contains(value, "gpu")
	return known
}

// fact takes in one key of a container.
func (d *containers) fact(r *Reader, key, value string, said Evidence) {
	w := d.now
	if d.asks(key, value) {
		d.variable = ""
		return
	}
	switch {
	case slices.Contains([]string{"image", "build", "command", "entrypoint", "args", "container_name", "dockerfile"}, key):
		w.About += " " + value
		if key == "image" && image().MatchString(value) {
			w.Image = value
		}
	case d.under("devices") && w.device(key, value):
	case key == "name" && passed(value):
		d.variable = value
		return
	case key == "value" && d.variable != "":
		r.set(d.variable, value, said)
	case passed(key) && d.under("environment"):
		r.set(key, value, said)
	}
	d.variable = ""
}

// asks takes in a key by which a container asks for GPUs, and reports whether it is one.
func (d *containers) asks(key, value string) bool {
	w, none := d.now, slices.Contains([]string{"", "0", "null", "none"}, value)
	switch {
	case key == "runtime" && strings.Contains(value, "nvidia"), key == "gpus" && !none:
		w.Asks = key + ": " + value
	case key == "gpus" && value == "":
		w.Asks = "gpus"
	case strings.Contains(key, ".com/") && (strings.Contains(key, "/gpu") || strings.Contains(key, "/mig-")):
		if d.under("requests") {
			w.Only = key
		} else if !none {
			w.Asks = key + ": " + value
		}
	default:
		return false
	}
	return true
}

// passed reports whether a variable of a container's environment decides which GPUs it sees.
func passed(name string) bool {
	return strings.HasPrefix(name, "NVIDIA_") || strings.HasPrefix(name, "CUDA_VISIBLE_DEVICES") ||
		strings.HasPrefix(name, "HIP_VISIBLE_DEVICES") || strings.HasPrefix(name, "ROCR_VISIBLE_DEVICES")
}

// set takes in a variable of a file, where "none" is a value and no word of
// somebody's.
func (r *Reader) set(name, value string, said Evidence) {
	if r.c.Machine.Env == nil {
		r.c.Machine.Env = map[string]string{}
	}
	if _, is := r.c.Machine.Env[name]; !is {
		r.c.Machine.Env[name] = clip(value, 4096)
		r.sayEnv(name, said)
	}
}

// item takes in "- value" of a list.
func (d *containers) item(r *Reader, indent int, value string, said Evidence) {
	d.leave(indent)
	w := d.now
	switch {
	case w == nil || indent < d.indent:
	case d.under("capabilities") && d.under("devices"):
		w.Wants = true
		w.GPUCap = w.GPUCap || strings.Contains(value, "gpu")
	case d.under("devices") && gpuDevice().MatchString(value):
		w.Asks = value
	case d.under("environment") && passed(value):
		name, v, _ := strings.Cut(value, "=")
		r.set(name, v, said)
	case slices.ContainsFunc([]string{"command", "args", "entrypoint"}, d.under):
		w.About += " " + value
	}
}

// goOn takes in the next piece of a command line.
func (d *containers) goOn(l string) {
	piece := strings.TrimSpace(l)
	more := strings.HasSuffix(piece, `\`)
	d.command += " " + strings.TrimSpace(strings.TrimSuffix(piece, `\`))
	if more && len(d.command) < maxLine {
		return
	}
	words := strings.Fields(d.command)
	w := &Workload{Kind: "docker", Name: words[0] + " " + words[1], About: strings.Join(words[2:], " "), At: d.said}
	if words[0] == "apptainer" || words[0] == "singularity" {
		w.Kind = "apptainer"
	}
	if i := slices.IndexFunc(words, image().MatchString); i > 0 {
		w.Image = words[i]
	}
	for i, word := range words[2:] {
		next := ""
		if i+3 < len(words) {
			next = words[i+3]
		}
		flag, value, _ := strings.Cut(word, "=")
		value = cmp.Or(value, next)
		switch {
		case flag == "--gpus", flag == "--nv", flag == "--nvccli", flag == "--rocm",
			flag == "--runtime" && strings.Contains(value, "nvidia"),
			flag == "--device" && (strings.Contains(value, "nvidia") || strings.HasPrefix(value, "/dev/dri") ||
				strings.HasPrefix(value, "/dev/kfd") || strings.HasPrefix(value, "/dev/dxg")),
			flag == "--privileged":
			w.Asks = flag
		}
	}
	d.out, d.command = append(d.out, w), ""
}

// dockerfile takes in a line of a Dockerfile; it reports whether it was one.
func (d *containers) dockerfile(r *Reader, l string, said Evidence) bool {
	if !strings.HasPrefix(l, "FROM ") && d.file.IsZero() {
		return false
	}
	if m := from().FindStringSubmatch(l); m != nil && (strings.ContainsAny(m[1], ":/$") ||
		m[1] == strings.ToLower(m[1])) {
		d.leave(0)
		d.file, d.base = said, m[1]
		return true
	}
	if d.file.IsZero() {
		return false // a sentence
	}
	if m := envSpace().FindStringSubmatch(l); m != nil {
		r.set(m[1], m[2], said)
		return true
	}
	if !d.run && !strings.HasPrefix(l, "RUN ") {
		return false
	}
	d.run = strings.HasSuffix(l, `\`)
	switch {
	case strings.Contains(l, "download.pytorch.org/whl/cpu"):
		mark(&d.cpuIndex, said)
	case drivers().MatchString(l):
		mark(&d.driver, said)
	case strings.Contains(l, "cuda.is_available") || strings.Contains(l, "nvidia-smi"):
		mark(&d.buildCheck, said)
	}
	return true
}

// A Dockerfile is what matters of one. The zero Dockerfile: none was read.
type Dockerfile struct {
	From       Evidence
	Base       string   // its last base image
	CPUIndex   Evidence // takes torch from the index of CPU builds
	Driver     Evidence // installs a driver
	BuildCheck Evidence // asks for a GPU while it is built
}

var gpuDevice = lazy.Regexp(`^(nvidia\.com/gpu|/dev/(nvidia|dxg|kfd))`)
