package read

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// likelyOS takes a system that a line speaks for, where no line before it spoke for one.
func (r *Reader) likelyOS(os string, s Evidence) {
	if r.c.Machine.Platform.OS == "" {
		r.c.Machine.Platform.OS = os
		r.say(&r.c.From.OS, s)
	}
}

func mark(at *Evidence, s Evidence) {
	if at.IsZero() {
		*at = s
	}
}

// system reads a name of a system: "Ubuntu 22.04.3 LTS (x86_64)".
func (r *Reader) system(text string, s Evidence) {
	p := &r.c.Machine.Platform
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "windows"):
		p.OS = "windows"
	case strings.Contains(lower, "mac os") || strings.Contains(lower, "macos") || strings.Contains(lower, "mac osx"):
		p.OS = "macos"
		mark(&r.c.Place.MacOS, s)
	case strings.TrimSpace(text) != "":
		if p.OS == "" || p.OS == "windows" && r.c.From.OS.Text != "" &&
			!strings.Contains(strings.ToLower(r.c.From.OS.Text), "windows") {
			p.OS = "linux"
		}
		for _, d := range []string{
			"ubuntu", "debian", "centos", "rhel", "red hat", "rocky", "almalinux", "fedora", "nobara", "alpine", "cachyos", "manjaro",
			"endeavouros", "arch", "opensuse", "nixos", "gentoo", "kali", "linuxmint",
		} {
			if strings.Contains(lower, d) {
				p.Distro = strings.ReplaceAll(d, "red hat", "rhel")
				p.DistroVersion = firstNumber().FindString(lower)
				break
			}
		}
	}
	r.say(&r.c.From.OS, s)
	if i, j := strings.LastIndexByte(text, '('), strings.LastIndexByte(text, ')'); i >= 0 && j > i {
		switch a := strings.ToLower(text[i+1 : j]); a {
		case "x86_64", "arm64", "aarch64", "amd64":
			p.Arch = a
			r.c.From.Arch = s
		}
	}
}

func (r *Reader) platform(text string, s Evidence) {
	p := &r.c.Machine.Platform
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "linux"):
		p.OS = "linux"
		if i := strings.IndexAny(text, "0123456789"); i >= 0 {
			p.Kernel = strings.SplitN(strings.SplitN(text[i:], "-x86", 2)[0], " ", 2)[0]
		}
	case strings.HasPrefix(lower, "windows"):
		p.OS = "windows"
	case strings.HasPrefix(lower, "macos"), strings.HasPrefix(lower, "darwin"):
		p.OS = "macos"
	}
	for _, a := range []string{"x86_64", "aarch64", "arm64"} {
		if strings.Contains(lower, a) {
			p.Arch = a
			r.c.From.PythonArch = s
		}
	}
	r.say(&r.c.From.OS, s)
}

var firstNumber = lazy.Regexp(`[0-9][0-9.]*`)

func (r *Reader) python(v string, s Evidence) {
	if len(r.c.Machine.Pythons) > 0 || strings.Contains(s.Text, "python_requires") {
		return
	}
	r.c.Machine.Pythons = append(r.c.Machine.Pythons, machine.Python{Version: v, Active: true})
	r.say(&r.c.From.Python, s)
}

func (r *Reader) toolkit(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && len(r.c.Machine.Toolkits) < 8 {
		r.c.Machine.Toolkits = append(r.c.Machine.Toolkits, machine.Toolkit{Version: d})
		r.say(&r.c.From.Toolkit, s)
	}
}

// say notes where a fact was read first.
func (r *Reader) say(at *Evidence, s Evidence) {
	r.told = true
	mark(at, s)
}

func (r *Reader) sayEnv(name string, s Evidence) {
	r.told = true
	r.c.sayEnv(name, s)
}

// sayEnv notes where a variable was read first.
func (c *Case) sayEnv(name string, s Evidence) {
	if c.From.Env == nil {
		c.From.Env = map[string]Evidence{}
	}
	if _, said := c.From.Env[name]; !said {
		c.From.Env[name] = s
	}
}

// inWSL tells whether a text that names WSL is of a system in it, or of its host.
func (c *Case) inWSL(p *machine.Platform) {
	if p.OS == "windows" && (p.Distro != "" || slices.ContainsFunc(c.Hits, onLinuxAlone)) {
		p.OS = "linux" // Windows is the host that the text also speaks of
	}
	if p.OS == "linux" || p.OS == "" {
		p.Environment = machine.WSL2
	}
}

// conclude draws what follows from several facts together; told: there are facts of
// a machine.
func (c *Case) conclude(told bool) {
	p := &c.Machine.Platform
	c.Machine.Format = machine.Format
	if p.Arch == "amd64" {
		p.Arch = "x86_64"
	}
	if p.OS == "" && told {
		p.OS = "linux"
	}
	if !c.Place.WSL.IsZero() {
		c.inWSL(p)
	}
	switch {
	case !c.Place.Jetson.IsZero() && p.OS != "windows":
		p.Environment, p.Arch = machine.Jetson, "aarch64"
	case !c.Place.Container.IsZero() && p.Environment == "":
		p.Environment = machine.Container
	case p.Environment == "":
		p.Environment = machine.Bare
	}
	if p.Arch == "" && (p.OS == "linux" || p.OS == "windows") {
		p.Arch = "x86_64"
	}
	if c.Torch.Label == "" && !c.Torch.CUDA.IsZero() {
		c.Torch.Label = "cu" + strings.ReplaceAll(c.Torch.CUDA.MajorMinor(), ".", "")
	}
}

// onLinuxAlone reports whether a message is one that no program of Windows prints.
func onLinuxAlone(h Hit) bool {
	return strings.Contains(h.At.Text, "couldn't communicate with the NVIDIA driver") || strings.Contains(h.At.Text, ".so:")
}
