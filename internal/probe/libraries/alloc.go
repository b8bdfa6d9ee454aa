package libraries

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/loader"
	"envfix/internal/machine"
	"envfix/internal/near"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
)

// AllocOptions are those that a variable names and the torch at a path does not know: the
// names of its options are texts in its libraries.
func AllocOptions(h *sysroot.Host, torch string) (out []machine.BadOption) {
	var libraries []byte
	for _, name := range []string{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} {
		value := h.Env[name]
		if value == "" {
			continue
		}
		if libraries == nil {
			libraries = append(h.Bytes(torch+"/lib/libc10_cuda.so", sysroot.MaxFile), h.Bytes(torch+"/lib/libc10.so", sysroot.MaxFile)...)
		}
		known := func(option string) bool { return bytes.Contains(libraries, []byte("\x00"+option+"\x00")) }
		if !known("max_split_size_mb") {
			return nil // another torch, whose options are not to be seen so
		}
		depth := 0
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { // commas within brackets are of a list
			depth += strings.Count("[", string(r)) - strings.Count("]", string(r))
			return r == ',' && depth == 0
		}) {
			option, setting, pair := strings.Cut(strings.ReplaceAll(part, " ", ""), ":") // torch reads over blanks
			switch {
			case !pair || setting == "":
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(part)})
			case allocValues[option].fits != nil && !allocValues[option].fits().MatchString(setting):
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(option), Value: text.Printable(setting), Wants: allocValues[option].words})
			case !known(option):
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(option), Near: nearOption(option, known)})
			}
		}
	}
	return out
}

// LogNames are those of TORCH_LOGS that the torch at a path has not registered: it raises at
// its import (torch/_logging/_internal.py, _parse_log_settings). Modules are named with dots.
func LogNames(h *sysroot.Host, torch string) (out []machine.BadOption) {
	const name = "TORCH_LOGS"
	if h.Env[name] == "" {
		return nil
	}
	known := h.Text(torch + "/_logging/_registrations.py")
	for item := range strings.SplitSeq(h.Env[name], ",") {
		item = strings.TrimLeft(strings.TrimSpace(item), "+-")
		if known != "" && item != "help" && item != "all" && !strings.Contains(item, ".") && !strings.Contains(known, `"`+item+`"`) {
			out = append(out, machine.BadOption{Variable: name, Option: text.Printable(item)})
		}
	}
	return out
}

// allocValues are what torch takes of options that have few values, and in words: it raises
// at any other (c10/cuda/CUDAAllocatorConfig.cpp).
var allocValues = map[string]struct {
	fits  func() *regexp.Regexp
	words string
}{
	"backend":                      {lazy.Regexp(`^(?:native|cudaMallocAsync)$`), "native or cudaMallocAsync"},
	"expandable_segments":          {lazy.Regexp(`^(?:True|False)$`), "True or False"},
	"release_lock_on_cudamalloc":   {lazy.Regexp(`^(?:True|False)$`), "True or False"},
	"garbage_collection_threshold": {lazy.Regexp(`^0?\.\d*[1-9]\d*$`), "more than 0 and less than 1"},
	"max_split_size_mb":            {lazy.Regexp(`^(?:2[1-9]|[3-9]\d|[1-9]\d\d+)$`), "more than 20"},
	"roundup_power2_divisions":     {lazy.Regexp(`^(?:1|2|4|8|16|32|64|\[.*\])$`), "a power of two, or a list of them"},
}

// allocNames are the options that releases of torch have had.
var allocNames = strings.Fields(`backend expandable_segments garbage_collection_threshold graph_capture_record_stream_reuse max_non_split_rounding_mb
	max_split_size_mb per_process_memory_fraction pinned_num_register_threads pinned_use_background_threads pinned_use_cuda_host_register
	release_lock_on_cudamalloc roundup_bypass_threshold_mb roundup_power2_divisions`)

// nearOption is the option that was meant, as far as it can be told; "" it cannot.
func nearOption(option string, known func(string) bool) string {
	name := slices.MinFunc(allocNames, func(a, b string) int { return near.Distance(a, option) - near.Distance(b, option) })
	return say.If(near.Distance(name, option) <= 3 && known(name), name)
}

// CompiledAt says where triton and torch.compile put the libraries that they make at run time, and cannot write them to, or load them from.
func CompiledAt(h *sysroot.Host) (out []string) {
	if h.Root != "" {
		return nil
	}
	for _, dir := range []string{cmp.Or(h.Env["TRITON_CACHE_DIR"], h.Home+"/.triton"), cmp.Or(h.Env["TORCHINDUCTOR_CACHE_DIR"], h.Env["TMPDIR"], "/tmp")} {
		for h.Abs(dir) && !h.Exists(dir) && h.Target(dir) == "" && dir != "/" { // a link to nothing is in the way
			dir = path.Dir(dir)
		}
		switch {
		case h.Abs(dir) && !h.IsDir(dir):
			out = append(out, machine.NowhereAt+text.Printable(dir))
		case loader.NotWritable(dir):
			out = append(out, machine.WrittenAt+text.Printable(dir))
		case loader.NotExecutable(dir):
			out = append(out, machine.CompiledAt+text.Printable(dir))
		}
	}
	return out
}
