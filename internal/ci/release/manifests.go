package main

import (
	"path/filepath"

	"envfix/internal/say"
)

// manifests writes what Homebrew and scoop read. Both name addresses and digests, so
// they are made only where it is known where the files will be.
func manifests(r *Release) {
	if r.URL == "" {
		return
	}
	sums := map[string]string{}
	for _, t := range r.Targets {
		name := t.name() + say.Either(t.os == "windows", ".zip", ".tar.gz")
		sum := digest(filepath.Join(r.Out, name))
		sums[t.name()] = sum
	}
	at := r.URL + "/" + r.Version.python() + "/"
	scoop := map[string]any{
		"version": r.Version.python(), "description": "Gets PyTorch to run on the GPU that is there", "license": "Apache-2.0", "homepage": r.URL,
		"architecture": map[string]any{"64bit": map[string]string{"url": at + "envfix-windows-x86_64.zip", "hash": sums["envfix-windows-x86_64"]}},
		"bin":          "envfix.exe",
	}
	r.writeJSON("envfix.scoop.json", scoop)
	branch := func(machine, name string) string {
		return "    on_" + machine + " do\n      url \"" + at + name + ".tar.gz\"\n      sha256 \"" + sums[name] + "\"\n    end\n"
	}
	r.write("envfix.rb", []byte(`class Envfix < Formula
  desc "Gets PyTorch to run on the GPU that is there"
  homepage "`+r.URL+`"
  version "`+r.Version.python()+`"
  license "Apache-2.0"

  on_macos do
`+branch("arm", "envfix-macos-arm64")+branch("intel", "envfix-macos-x86_64")+`  end

  on_linux do
`+branch("arm", "envfix-linux-aarch64")+branch("intel", "envfix-linux-x86_64")+`  end

  def install
    bin.install "envfix"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/envfix.bash" => "envfix"
    zsh_completion.install "completions/envfix.zsh" => "_envfix"
    fish_completion.install "completions/envfix.fish"
  end

  test do
    assert_match "cu126", shell_output("#{bin}/envfix plan --gpu V100 --driver 580.95.05 --os linux --arch x86_64 --python 3.12 --libc glibc-2.36")
  end
end
`), 0o644)
}
