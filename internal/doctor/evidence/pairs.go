package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/matrix"
)

// Fix is how to install the companions that are the pair of the torch in place;
// the torch that fits with its companions, where the one in place is not known.
func (e Pair) Fix() []string {
	if e.Matrix == nil {
		return nil
	}
	if label := e.Torch.Label; e.Torch.Version == "" && strings.HasPrefix(label, "cu") {
		if _, known := e.Matrix.Floor(label); known { // the CUDA alone is told: all of one index fit
			return []string{"`pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/" + label +
				"`: both from the index of CUDA " + e.Torch.CUDA.MajorMinor()}
		}
	}
	r, ok := e.Matrix.Release(e.Torch.Version)
	if !ok {
		return e.numbered()
	}
	b, label := e.build(r)
	if b == nil {
		return nil
	}
	var words []string
	for _, name := range []string{"torchvision", "torchaudio"} {
		v, there := b.Companion(name)
		if there && (name == "torchvision" || e.Installed(name) != nil || e.saysAudio()) {
			words = append(words, name+"=="+v.String())
		}
	}
	if len(words) == 0 {
		return nil
	}
	command := "`pip install --force-reinstall --no-deps " + strings.Join(words, " ")
	if label != "" && b.Index != "" {
		command += " --index-url " + b.Index
	}
	return []string{command + "`: the pair of torch " + e.Torch.Named()}
}

// build is the build of a release that is in place, as far as the platform and label tell,
// and its label.
func (e Pair) build(r *matrix.Release) (b *matrix.Build, label string) {
	os, arch := cmp.Or(e.Machine.Platform.OS, "linux"), e.Machine.Platform.Arch
	if arch == "" {
		arch = "x86_64"
		if os == "macos" {
			arch = "arm64"
		}
	}
	if label = e.Torch.Label; e.Torch.NoCUDA && label == "" {
		label = "cpu"
	}
	for _, c := range r.Builds {
		if c.OS == os && c.Arch == arch && (c.Label == label || label == "" && c.Default) {
			b = c
		}
	}
	return b, label
}

// numbered is the pair of a torch before the data begins: torch 1.N.P goes with
// torchaudio 0.N.P and torchvision 0.(N+1).P. Source: pytorch/vision and pytorch/audio,
// READMEs, tables of versions.
func (e Pair) numbered() []string {
	m := oldTorch().FindStringSubmatch(e.Torch.Version)
	if m == nil {
		return nil
	}
	minor := read.Atoi(m[1])
	words := fmt.Sprintf("torchvision==0.%d.%s", minor+1, m[2])
	if e.Installed("torchaudio") != nil || e.saysAudio() {
		words += fmt.Sprintf(" torchaudio==0.%d.%s", minor, m[2])
	}
	return []string{"`pip install --force-reinstall --no-deps " + words + "`: the pair of torch " + e.Torch.Named()}
}

var oldTorch = lazy.Regexp(`^1\.(7|8|9|1[0-3])\.(\d+)$`)

// saysAudio reports whether a message is about torchaudio.
func (e Pair) saysAudio() bool {
	return slices.ContainsFunc(e.Hits, func(h read.Hit) bool { return strings.Contains(strings.ToLower(h.At.Text), "torchaudio") })
}

// Words is the command's words for torch and the torchvision that is its pair.
func (e Pair) Words(torch, label string, h machine.Machine) string {
	b, ok := e.Matrix.BuildOf(torch, label, h.Platform.OS, h.Platform.Arch)
	if !ok {
		return "torch==" + torch + " torchvision"
	}
	pair := "torch==" + torch
	if v, ok := b.Companion("torchvision"); ok {
		pair += " torchvision==" + v.String()
	}
	if v, ok := b.Companion("torchaudio"); ok && (!e.Says.ComfyUI.IsZero() || e.Installed("torchaudio") != nil) {
		pair += " torchaudio==" + v.String() // ComfyUI imports it
	}
	return pair
}
