package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/resolver"
)

var (
	pythonText  = lazy.Regexp(`^(3\.\d{1,2})(\.\d{1,3})?(t?)$`)
	cudaText    = lazy.Regexp(`^\d{1,2}(\.\d{1,2})?$`)
	windowsText = lazy.Regexp(`^\d{2}\.\d{1,2}\.\d{2}\.\d{4}$`)
	buildText   = lazy.Regexp(`^(cpu|xpu|mps|cu\d{2,4}|rocm\d{1,2}(\.\d{1,2}){0,2})$`)
)

// Request says what is wanted, in the words of the flags. A field that is empty
// says nothing.
type Request struct {
	Python       string   `json:"python" flag:"python"` // 3.12, 3.12.4 (read as 3.12) or 3.14t
	CUDA         string   `json:"cuda" flag:"cuda"`     // 12.6, or 12 for any 12.x
	Build        string   `json:"build" flag:"build"`   // cu126, cpu, rocm7.2, xpu or mps
	CPU          bool     `json:"cpu" flag:"cpu"`
	Manager      string   `json:"manager" flag:"manager"` // one of Managers
	ChangeDriver bool     `json:"change_driver" flag:"change-driver"`
	JIT          bool     `json:"jit" flag:"jit"`
	AsNamed      []string `json:"as_named,omitempty" flag:"as-named"`   // packages that are meant as they are written
	AllowURL     []string `json:"allow_url,omitempty" flag:"allow-url"` // packages that may come from an address, by hash
	Relax        []string `json:"relax,omitempty" flag:"relax"`         // packages of which any version will do, whatever a file pins
	OnlyIndex    string   `json:"only_index" flag:"only-index"`         // default, pytorch or a URL
	Channel      string   `json:"channel,omitempty" flag:"channel"`     // one of resolver.Channels; "" releases
	GPUs         string   `json:"gpus" flag:"gpus"`                     // indexes: 0,2
}

// Parse reads the words. The requirements, the date and what this machine's
// project says are the caller's to add.
func (w Request) Parse() (resolver.Request, error) {
	r := resolver.Request{CUDA: w.CUDA, Build: w.Build, Manager: w.Manager, OnlyIndex: w.OnlyIndex,
		Channel: w.Channel, CPU: w.CPU, JIT: w.JIT, ChangeDriver: w.ChangeDriver,
		AllowURL: text.Each(w.AllowURL, machine.NormalName), AsNamed: text.Each(w.AsNamed, machine.NormalName),
		Relax: text.Each(w.Relax, machine.NormalName)}
	var err error
	if r.Python, err = Python(w.Python); err != nil {
		return r, err
	}
	switch {
	case w.CUDA != "" && !cudaText().MatchString(w.CUDA):
		return r, BadValue("cuda", w.CUDA, "write `--cuda 12.6` for that version or `--cuda 12` for any 12.x")
	case w.Build != "" && !buildText().MatchString(w.Build):
		return r, BadValue("build", w.Build, "builds are named like cu126, cpu, rocm7.2, xpu and mps")
	case w.CPU && w.Build != "" && w.Build != "cpu":
		return r, fail.Wrong(fmt.Sprintf("`--cpu` and `--build %s` exclude each other", w.Build), "drop one of them")
	case w.Manager != "" && !slices.Contains(managers.Names(), w.Manager):
		return r, BadValue("manager", w.Manager, "managers are "+strings.Join(managers.Names(), ", "))
	case w.Channel != "" && !slices.Contains(resolver.Channels, w.Channel):
		return r, BadValue("channel", w.Channel, "channels are nightly and test; without one, releases are taken")
	case w.OnlyIndex != "" && !IsIndex(w.OnlyIndex):
		return r, BadValue("only-index", w.OnlyIndex, "write `default`, `pytorch`, or the https:// URL of an index")
	}
	r.GPUs, err = gpuList(w.GPUs)
	return r, err
}

// IsBuild reports whether s is written like a build: cu126, cpu, rocm7.2.
func IsBuild(s string) bool { return buildText().MatchString(s) }

// Python reads a version of Python as a request names it: "3.12", "3.12.4" (as
// 3.12) and "3.14t". "" is none.
func Python(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	m := pythonText().FindStringSubmatch(s)
	if m == nil {
		return "", BadValue("python", s, "write a version such as `--python 3.12`, or `--python 3.14t` for the free-threaded one")
	}
	return m[1] + m[3], nil
}

func gpuList(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n > 1023 {
			return nil, BadValue("gpus", s, "write indexes as `envfix facts` shows them: `--gpus 0,2`")
		}
		out = append(out, n)
	}
	return out, nil
}

// Requirement reads one PEP 508 requirement.
func Requirement(written string) (pep508.Requirement, error) {
	q, err := pep508.Parse(written, "")
	if err != nil {
		return q, &fail.Error{Code: fail.Usage, Text: text.Printable(err.Error()), Err: err,
			Hints: []string{"write a requirement such as `torch==2.9.*`, `torchvision` or `'vllm>=0.10'`"}}
	}
	return q, nil
}

// Requirements reads PEP 508 requirements.
func Requirements(texts []string) ([]pep508.Requirement, error) {
	var out []pep508.Requirement
	for _, text := range texts {
		q, err := Requirement(text)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// IsIndex admits the words for an index: "default", "pytorch", or its URL.
func IsIndex(s string) bool { return s == "default" || s == "pytorch" || IsIndexURL(s) }

// IsIndexURL admits what may reach an installer's argv: an http or https URL
// without credentials (a query's tokens among them), blanks or control characters.
func IsIndexURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	host, _, _ := strings.Cut(rest, "/")
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(" \"'`\\<>?#", r) }
	return ok && host != "" && !strings.Contains(host, "@") && utf8.ValidString(s) && !strings.ContainsFunc(s, odd)
}

// Mirror refuses a --mirror that is not FROM=TO with index URLs.
func Mirror(pair string) error {
	from, to, ok := strings.Cut(pair, "=")
	if !ok || from != "default" && !IsIndexURL(from) || !IsIndexURL(to) {
		return BadValue("mirror", pair, "write `--mirror https://download.pytorch.org/whl=https://mirror.example/whl`, or `--mirror default=URL`")
	}
	return nil
}
