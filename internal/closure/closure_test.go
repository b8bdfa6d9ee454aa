package closure

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"envfix/internal/text"
)

func file(lines string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(lines)} }

// What is imported is told from what is the project's own and Python's, and by what
// imports it.
func TestOf(t *testing.T) {
	fsys := fstest.MapFS{
		"main.py": file("import os, yaml, own, lib.inner, numpy\nfrom sibling import x\nfrom datasets import local\nimport accelerate.utils\n" +
			"from google.protobuf import message\ntry:\n    import apex\nexcept ImportError: pass\n"),
		"own.py":                            file("from . import other"),
		"sibling/part.py":                   file("import neighbour, requests"),
		"sibling/neighbour.py":              file(""),
		"datasets/local/part.py":            file(""), // stands behind an installed package of its name, but for what it holds
		"accelerate/configs.py":             file("from accelerate import Accelerator"),
		"third_party/thing/lib/inner.py":    file("import somebody_elses"),
		"third_party/thing/lib/__init__.py": file(""),
		"tests/test_main.py":                file("import pytest, yaml"),
		".venv/pyvenv.cfg":                  file(""),
		".venv/lib/x.py":                    file("import never"),
		"env/pyvenv.cfg":                    file(""),
		"env/lib/x.py":                      file("import never"),
		"recipes/train.py":                  file("import linked, linked_folder.part"),
		"recipes/linked.py":                 {Data: []byte("../lib/linked.py"), Mode: fs.ModeSymlink},
		"recipes/linked_folder":             {Data: []byte("../lib"), Mode: fs.ModeSymlink},
		"notes.txt":                         file("import never"),
		"core/__init__.py":                  file(""),
		"core/stereo.py":                    file("import stereo_data"), // sys.path.append("core")
		"core/stereo_data.py":               file(""),
		"core/yaml.py":                      file(""), // what is known is installed, whatever lies in a package
	}
	got := text.Each(Of(fsys, nothing), func(m Module) string { return fmt.Sprintf("%s %v %s %d", m.Name, m.Distributions, m.At, m.Use) })
	want := []string{"accelerate [accelerate] accelerate/configs.py 2", "apex [] main.py 0", "google.protobuf [protobuf] main.py 2", "numpy [numpy] main.py 2",
		"pytest [pytest] tests/test_main.py 1", "requests [requests] sibling/part.py 2", "somebody_elses [] third_party/thing/lib/inner.py 2",
		"yaml [pyyaml] main.py 2"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
}

func nothing(string) bool { return false }

// What a project's documents start is what it is used for, wherever it lies.
func TestStarted(t *testing.T) {
	fsys := fstest.MapFS{"scripts/train.py": file("import tqdm"), "scripts/other.py": file("import yaml, tqdm")}
	got := text.Each(Of(fsys, func(name string) bool { return name == "scripts/train.py" }), func(m Module) string { return fmt.Sprintf("%s %s %d", m.Name, m.At, m.Use) })
	if want := "[tqdm scripts/train.py 2 yaml scripts/other.py 1]"; fmt.Sprint(got) != want {
		t.Errorf("%q", got)
	}
}

// What of a package is imported in any case is told by its whole name: a release may have it no
// more.
func TestParts(t *testing.T) {
	fsys := fstest.MapFS{
		"main.py":       file("import torch.nn as nn\nfrom torch._six import inf\ntry:\n    from torch.gone import x\nexcept ImportError: pass\n"),
		"tests/test.py": file("from torch.only import tested"),
	}
	if got := fmt.Sprint(Of(fsys, nothing)[0].Parts); got != "[torch.nn torch._six.inf]" {
		t.Error(got)
	}
	fsys["main.py"] = file("import torch, torch.nn as nn\nif nn.old:\n    from torch.old import x\nif nn.new: from torch.new import x\ndef later():\n    import torch.later\n")
	if got := fmt.Sprint(Of(fsys, nothing)[0].Begins); got != "[torch.nn]" {
		t.Error("a file begins without what stands in a block:", got)
	}
	if got := fmt.Sprint(Of(fsys, nothing)[0].Parts); got != "[torch.nn torch.later]" {
		t.Error("a function needs what it imports, and the other side of an if does without:", got)
	}
}
