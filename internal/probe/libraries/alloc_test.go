package libraries

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

func TestAllocOptions(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"t/lib/libc10_cuda.so": "\x00max_split_size_mb\x00expandable_segments\x00garbage_collection_threshold\x00backend\x00roundup_power2_divisions\x00"})
	for value, wants := range map[string]string{
		"max_split_size_mb:128,expandable_segments:True,garbage_collection_threshold:0.8,backend:cudaMallocAsync": "",
		"max_split_size_mb: 128, expandable_segments: True":                                                       "",
		"roundup_power2_divisions:[256:1,512:2,>:8]":                                                              "",
		"roundup_power2_divisions:3":                                                                              "a power of two, or a list of them",
		"max_split_size_mb:20":                                                                                    "more than 20",
		"expandable_segments:true":                                                                                "True or False",
		"garbage_collection_threshold:1.5":                                                                        "more than 0 and less than 1",
		"backend:malloc":                                                                                          "native or cudaMallocAsync",
	} {
		got := AllocOptions(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"PYTORCH_ALLOC_CONF=" + value}}), "/t")
		if said := append(got, machine.BadOption{})[0].Wants; said != wants {
			t.Errorf("%s: %q, want %q", value, said, wants)
		}
	}
}

// TestNearOption: the option that was meant, where this torch has it.
func TestNearOption(t *testing.T) {
	known := func(option string) bool { return option != "per_process_memory_fraction" }
	for option, want := range map[string]string{
		"max_split_size": "max_split_size_mb", "expandable_segment": "expandable_segments", "per_process_memory_fractions": "", "nonsense": "",
	} {
		if got := nearOption(option, known); got != want {
			t.Errorf("%s: %q, want %q", option, got, want)
		}
	}
}

// TestLogNames: what torch has not registered it raises at; names with dots are of modules.
func TestLogNames(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"t/_logging/_registrations.py": `register_log("dynamo", ["torch._dynamo"])` + "\n"})
	for value, want := range map[string]string{"+dynamo,-torch.fx": "", "help": "", "all": "", "dynamo,inductr": "inductr"} {
		got := LogNames(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"TORCH_LOGS=" + value}}), "/t")
		if bad := append(got, machine.BadOption{})[0].Option; bad != want {
			t.Errorf("%s: %q, want %q", value, bad, want)
		}
	}
}
