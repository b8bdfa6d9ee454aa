package lock

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/text"
)

// An export is a profile on its way into another tool's form.
type export struct {
	*Profile
	packages   *Packages
	file, list string // the requirements file that lies beside the form: its name, what it holds
}

// A form is one of another tool's.
type form struct {
	name          string
	linux, wheels bool // of Linux alone; of packages that have a wheel
	write         func(export, *text.Doc) error
}

func forms() []form {
	return []form{
		{"requirements", false, false, func(p export, d *text.Doc) error { d.Add("%s", text.Lines(p.list, 0)); return nil }},
		{"conda", false, false, export.conda},
		{"dockerfile", true, false, export.dockerfile},
		{"kubernetes", true, true, export.kubernetes},
		{"ray", true, true, export.ray},
		{"sky", true, true, export.sky},
		{"dstack", true, true, export.dstack},
		{"cloud-init", true, true, export.cloudInit},
		{"devcontainer", true, true, export.devcontainer},
	}
}

// Forms are the names of the forms of one profile.
func Forms() []string { return text.Each(forms(), func(f form) string { return f.name }) }

// Export returns the profile and the packages of it that were chosen in another tool's
// form; home is the folder of the lock.
func (p *Profile) Export(name, home string, k *Packages) (text.Quoted, error) {
	all := forms()
	f := all[slices.IndexFunc(all, func(f form) bool { return f.name == name })]
	switch {
	case f.linux && p.Match.OS != "linux":
		return text.Quoted{}, fmt.Errorf("profile %s is for %s; this form is for Linux", p.Name, p.Match.OS)
	case f.wheels && k.Rest() != "":
		return text.Quoted{}, fmt.Errorf("profile %s has packages without a wheel, which this form cannot build", p.Name)
	}
	var d text.Doc
	list := k.Requirements(home, func(url string) string { return url }) + k.Rest()
	err := f.write(export{p, k, "requirements." + p.Name + ".txt", list}, &d)
	return d.Quoted(), err
}

// conda is an environment.yml for one profile: conda brings Python,
// and pip the very wheels of the lock, by hash. (conda-forge's own pytorch is
// another build with another arch list; it would not be what was locked.)
func (p export) conda(d *text.Doc) error {
	d.Add("# From "+File+", profile %s. Beside it: %s\n", text.Comment(p.Name), text.Comment(p.file))
	d.Add("name: %s\nchannels:\n  - conda-forge\n  - nodefaults\ndependencies:\n", text.Word(p.Name))
	d.Add(
		"  - python=%s\n  - pip>=23\n  - pip:\n      - --require-hashes\n      - --no-deps\n      - --only-binary=:all:\n      - -r %s\n",
		text.Word(p.Python),
		text.Word(p.file),
	)
	d.Add("%s", text.Lines(p.packages.Rest(), 0))
	return nil
}

type uvIndex struct {
	Name     string `toml:"name"`
	URL      string `toml:"url"`
	Explicit bool   `toml:"explicit"`
}

// dockerfile is a Dockerfile for a Linux profile that builds without a GPU
// and checks with one: the driver floor becomes NVIDIA_REQUIRE_CUDA, which the
// container runtime refuses to start below, and the last line says how to verify on a
// GPU. The base image can be given by its digest.
func (p export) dockerfile(d *text.Doc) error {
	base, platform := "python:"+strings.TrimSuffix(p.Python, "t")+"-slim", text.Const("")
	if strings.HasPrefix(p.Match.Libc, "musl") {
		base = "python:" + strings.TrimSuffix(p.Python, "t") + "-alpine"
	}
	name, file := text.Word(p.Name), text.Word(p.file)
	d.Add("# syntax=docker/dockerfile:1\n# From "+File+", profile %s. Beside it: %s\n", name, file)
	d.Add("# (envfix lock export --format requirements --profile %s > %s)\n", name, file)
	d.Add("# An image by its digest: docker build --build-arg BASE=python@sha256:… .\nARG BASE=%s\n", text.Word(base))
	if p.Match.Arch == "aarch64" {
		platform = text.Const("--platform=linux/arm64 ")
		d.Add("# hadolint ignore=DL3029\n") // the files are of this architecture alone
	}
	d.Add("FROM %s${BASE}\n", platform)
	d.Add("ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH UV_LINK_MODE=copy\n")
	d.Add("RUN --mount=type=cache,target=/root/.cache/pip python -m pip install --disable-pip-version-check --root-user-action=ignore uv==" +
		dockerUV + " && uv venv /opt/venv\n")
	d.Add("COPY %s /tmp/requirements.txt\n", file)
	d.Add("RUN --mount=type=cache,target=/root/.cache/uv uv pip install --no-deps --require-hashes --only-binary :all: -r /tmp/requirements.txt\n")
	for _, s := range p.packages.Sources() {
		if err := dockerSource(d, s); err != nil {
			return err
		}
	}
	d.Add("RUN python -I -c \"%s\"\n", p.assertion())
	if p.Match.GPU == "nvidia" {
		d.Add("ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n")
		if n := p.driverMajor(); n > 0 {
			d.Add("ENV NVIDIA_REQUIRE_CUDA=\"driver>=%s\"\n", text.Int(n))
		}
		d.Add(
			"# With a GPU: docker run --rm --gpus all IMAGE python -I -c \"import torch; x = torch.ones(8, 8, device='cuda'); print((x @ x).sum().item())\"\n",
		)
	}
	d.Add("USER 10001\n")
	return nil
}

// dockerUV is the uv that images are built with; the tests run the lines with it.
const dockerUV = "0.13.9"

// dockerSource adds the lines that build one package in an image.
func dockerSource(d *text.Doc, k Package) error {
	const install = "RUN --mount=type=cache,target=/root/.cache/uv uv pip install --no-deps "
	switch {
	case k.Directory != nil && insidePath(k.Directory.Path) && text.IsWord(k.Directory.Path):
		path := text.Word(k.Directory.Path)
		d.Add("COPY %s /src/%s\n"+install+"/src/%s\n", path, path, path)
	case k.VCS != nil && strings.HasPrefix(k.VCS.URL, "https://"):
		d.Add("# This needs git in the base image.\n"+install+"%s\n", text.POSIX(k.SourceLine(".")))
	default:
		return fmt.Errorf("%s is built from what an image cannot reach; give it a wheel or an https address", k.Name)
	}
	return nil
}

// assertion is Python that fails where torch is not the profile's. Its version has a
// label that a default index's file name does not: 2.15.0 is 2.15.0+cu132.
func (p *Profile) assertion() text.Quoted {
	var d text.Doc
	public, _, _ := strings.Cut(p.Torch, "+")
	d.Add("import torch; v = torch.__version__.split('+')[0]; assert v == '%s', torch.__version__", text.Word(public))
	if p.CUDA != "" {
		d.Add("; assert torch.version.cuda == '%s', torch.version.cuda", text.Word(p.CUDA))
	}
	return d.Quoted()
}
