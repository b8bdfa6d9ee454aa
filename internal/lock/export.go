package lock

import (
	"fmt"
	"strings"
)

// ExportConda returns an environment.yml for one profile: conda brings Python,
// and pip the very wheels of the lock, by hash. (conda-forge's own pytorch is
// another build with another arch list; it would not be what was locked.)
func (p *Profile) ExportConda(requirements string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s. Beside it: %s\n", File, p.Name, requirements)
	fmt.Fprintf(&b, "name: %s\nchannels:\n  - conda-forge\n  - nodefaults\ndependencies:\n", p.Name)
	fmt.Fprintf(
		&b,
		"  - python=%s\n  - pip>=23\n  - pip:\n      - --require-hashes\n      - --no-deps\n      - --only-binary=:all:\n      - -r %s\n",
		p.Python,
		requirements,
	)
	return b.String()
}

type uvIndex struct {
	Name     string `toml:"name"`
	URL      string `toml:"url"`
	Explicit bool   `toml:"explicit"`
}

// ExportDockerfile returns a Dockerfile for a Linux profile that builds without a GPU
// and checks with one: the driver floor becomes NVIDIA_REQUIRE_CUDA, which the
// container runtime refuses to start below, and the last line says how to verify on a
// GPU. The base image can be given by its digest.
func (p *Profile) ExportDockerfile(requirements string, k *Packages) (string, error) {
	if p.Match.OS != "linux" {
		return "", fmt.Errorf("profile %s is for %s; an image is of Linux", p.Name, p.Match.OS)
	}
	var b strings.Builder
	base, platform := "python:"+strings.TrimSuffix(p.Python, "t")+"-slim", ""
	if strings.HasPrefix(p.Match.Libc, "musl") {
		base = "python:" + strings.TrimSuffix(p.Python, "t") + "-alpine"
	}
	fmt.Fprintf(&b, "# syntax=docker/dockerfile:1\n# From %s, profile %s. Beside it: %s\n", File, p.Name, requirements)
	fmt.Fprintf(&b, "# (envfix lock export --format requirements --profile %s > %s)\n", p.Name, requirements)
	fmt.Fprintf(&b, "# An image by its digest: docker build --build-arg BASE=python@sha256:… .\nARG BASE=%s\n", base)
	if p.Match.Arch == "aarch64" {
		platform = "--platform=linux/arm64 "
		b.WriteString("# hadolint ignore=DL3029\n") // the files are of this architecture alone
	}
	fmt.Fprintf(&b, "FROM %s${BASE}\n", platform)
	b.WriteString("ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH UV_LINK_MODE=copy\n")
	fmt.Fprintf(
		&b,
		"RUN --mount=type=cache,target=/root/.cache/pip python -m pip install --disable-pip-version-check --root-user-action=ignore uv==%s && uv venv /opt/venv\n",
		dockerUV,
	)
	fmt.Fprintf(&b, "COPY %s /tmp/requirements.txt\n", requirements)
	b.WriteString("RUN --mount=type=cache,target=/root/.cache/uv uv pip install --no-deps --require-hashes --only-binary :all: -r /tmp/requirements.txt\n")
	for _, s := range k.Sources() {
		if err := dockerSource(&b, s); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&b, "RUN python -I -c \"%s\"\n", p.assertion())
	if p.Match.GPU == "nvidia" {
		b.WriteString("ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n")
		if p.Match.Driver != "" {
			major, _, _ := strings.Cut(strings.TrimPrefix(p.Match.Driver, ">="), ".")
			fmt.Fprintf(&b, "ENV NVIDIA_REQUIRE_CUDA=\"driver>=%s\"\n", major)
		}
		b.WriteString(
			"# With a GPU: docker run --rm --gpus all IMAGE python -I -c \"import torch; x = torch.ones(8, 8, device='cuda'); print((x @ x).sum().item())\"\n",
		)
	}
	b.WriteString("USER 10001\n")
	return b.String(), nil
}

// dockerUV is the uv that images are built with; the tests run the lines with it.
const dockerUV = "0.13.9"

// dockerSource adds the lines that build one package in an image.
func dockerSource(b *strings.Builder, k Package) error {
	const install = "RUN --mount=type=cache,target=/root/.cache/uv uv pip install --no-deps "
	switch {
	case k.Directory != nil && insidePath(k.Directory.Path):
		fmt.Fprintf(b, "COPY %s /src/%s\n%s/src/%s\n", k.Directory.Path, k.Directory.Path, install, k.Directory.Path)
	case k.VCS != nil && strings.HasPrefix(k.VCS.URL, "https://"):
		fmt.Fprintf(b, "# This needs git in the base image.\n%s\"%s\"\n", install, k.SourceLine("."))
	default:
		return fmt.Errorf("%s is built from what an image cannot reach; give it a wheel or an https address", k.Name)
	}
	return nil
}

// assertion is Python that fails where torch is not the profile's. Its version has a
// label that a default index's file name does not: 2.15.0 is 2.15.0+cu132.
func (p *Profile) assertion() string {
	public, _, _ := strings.Cut(p.Torch, "+")
	s := fmt.Sprintf("import torch; v = torch.__version__.split('+')[0]; assert v == '%s', torch.__version__", public)
	if p.CUDA != "" {
		s += fmt.Sprintf("; assert torch.version.cuda == '%s', torch.version.cuda", p.CUDA)
	}
	return s
}
