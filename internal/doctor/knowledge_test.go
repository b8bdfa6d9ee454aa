package doctor

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/data"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// The small reader and a general one read the same from our files.
func TestRecordsAreYAML(t *testing.T) {
	for name, key := range map[string]string{"checks.yaml": "checks", "messages.yaml": "messages", "clues.yaml": "clues"} {
		text, err := fs.ReadFile(data.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseRecords(string(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var doc map[string]any
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want []map[string][]string
		for _, item := range doc[key].([]any) {
			m := map[string][]string{}
			for k, v := range item.(map[string]any) {
				m[k] = values(v)
			}
			want = append(want, m)
		}
		var have []map[string][]string
		for _, r := range got {
			have = append(have, r.keys)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s: (-yaml +ours)\n%s", name, d)
		}
	}
}

func values(v any) []string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, strings.Join(values(x), "|")) // a list in a list: alternatives
		}
		return out
	case string:
		return []string{v}
	case bool:
		return []string{map[bool]string{true: "true", false: "false"}[v]}
	}
	return nil
}

// The causes are those of the vocabulary, in every file and in the graph.
func TestCauses(t *testing.T) {
	words := strings.Fields(vocabulary)
	k := Embedded()
	check := func(where, cause string) {
		if cause != "none" && !slices.Contains(words, cause) {
			t.Errorf("%s: %q is not of the vocabulary", where, cause)
		}
	}
	for _, c := range k.Checks {
		check(c.ID, c.Cause)
	}
	for _, m := range k.Messages {
		check(m.ID, m.Cause)
	}
	for _, c := range k.Clues {
		check(c.ID, c.Cause)
	}
	for a, list := range reasons {
		check("reasons", a)
		for _, b := range list {
			check("reasons of "+a, b)
		}
	}
}

const vocabulary = `torch_cpu_wheel torch_cpu_conda torch_replaced torch_duplicate_install torch_rocm_on_nvidia_or_reverse
broken_wheel_release driver_too_old driver_missing driver_library_mismatch cuda_init_unknown_999 cuda_compat_lib_shadow
driver_bug_or_branch gpu_too_new_for_wheel gpu_too_old_for_wheel gpu_too_old_for_feature gpu_hw_fault gpu_not_nvidia
ld_path_shadowing nvidia_pip_lib_mismatch missing_runtime_lib glibc_or_libstdcxx_too_old windows_dll_load torchvision_mismatch
extension_abi_mismatch toolkit_mismatch_build lib_selects_wrong_cuda no_wheel_for_python no_wheel_for_platform
resolver_index_config container_no_gpu wsl_driver env_cuda_visible_devices mig_config fabric_manager gpu_exclusive_mode
gpu_busy_memory device_permissions jetson_wrong_wheel rocm_unsupported_gfx rocm_setup apple_mps_requirement intel_xpu_setup
nccl_p2p_topology nccl_config code_device_placement dataloader_bottleneck oom expectation_misread`

func TestBadRecords(t *testing.T) {
	for _, text := range []string{
		"format: 2\nmessages:\n- id: x\n", "- id: 'open\n", "- id: x\n  id: y\n", "id\n", "format: 1\nm:\n  - x\n", "- id: x\n  list: [a b\n", "- id: x\n  all:\n    - 'b'\n",
	} {
		if _, err := parseRecords(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A pattern of several alternatives stands on as many lines.
func TestAlternatives(t *testing.T) {
	got, err := parseRecords("- id: x\n  all:\n  - - 'a'\n    - 'b|c'\n  - 'd'\n  pattern:\n  - 'e'\n  - 'f'\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"id": {"x"}, "all": {"a|b|c", "d"}, "pattern": {"e", "f"}}
	if d := cmp.Diff(want, got[0].keys); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The parts of clues are words, not pieces of them: "hang" is no part of
// "change", "stalled" none of "installed".
func TestCluesMeanWholeWords(t *testing.T) {
	words := strings.Fields("installed installing uninstalled changed exchange unchanged challenge another cannot notice annotation knot this lists interest latest provider folder consider")
	for _, c := range Embedded().Clues {
		for i, p := range c.All {
			re := regexp.MustCompile(expression(p))
			for _, word := range words {
				if m := re.FindString(word); !strings.HasPrefix(word, m) {
					t.Errorf("%s: part %d takes %q out of %q", c.ID, i+1, m, word)
				}
			}
		}
	}
}

// What a check says is read by somebody who knows neither our ids nor our notes: a
// sentence of several words, and a way out that stands by itself.
func TestChecksSpeakToPeople(t *testing.T) {
	k := Embedded()
	id := regexp.MustCompile(`\b[A-Z]{2,4}0\d\d\b`)
	for _, name := range k.Order {
		c := k.Checks[name]
		if n := len(strings.Fields(c.Text)); n < 4 {
			t.Errorf("%s: %q is %d words", name, c.Text, n)
		}
		if len(c.Fix) == 0 {
			t.Errorf("%s: no way out", name)
		}
		for _, text := range append([]string{c.Text}, c.Fix...) {
			if id.MatchString(text) || strings.HasPrefix(text, "as ") || strings.HasPrefix(text, "see ") {
				t.Errorf("%s: %q sends the reader to another check", name, text)
			}
			if strings.Count(text, "`")%2 != 0 {
				t.Errorf("%s: %q opens a backtick and does not close it", name, text)
			}
		}
	}
}
