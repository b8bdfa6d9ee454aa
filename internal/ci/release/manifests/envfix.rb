class Envfix < Formula
  desc "Gets PyTorch to run on the GPU that is there"
  homepage "${URL}"
  version "${VERSION}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "${URL}/${VERSION}/envfix-macos-arm64.tar.gz"
      sha256 "${envfix-macos-arm64.tar.gz}"
    end
    on_intel do
      url "${URL}/${VERSION}/envfix-macos-x86_64.tar.gz"
      sha256 "${envfix-macos-x86_64.tar.gz}"
    end
  end

  on_linux do
    on_arm do
      url "${URL}/${VERSION}/envfix-linux-aarch64.tar.gz"
      sha256 "${envfix-linux-aarch64.tar.gz}"
    end
    on_intel do
      url "${URL}/${VERSION}/envfix-linux-x86_64.tar.gz"
      sha256 "${envfix-linux-x86_64.tar.gz}"
    end
  end

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
