package pyproject

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// texts are the requirements of a project as they are written.
func texts(p *Project) string {
	var out []string
	for _, q := range p.Requirements {
		out = append(out, q.Text)
	}
	return strings.Join(out, " | ")
}

func folder(files map[string]string) Opener {
	return func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("not there")
	}
}

// A setup.py is read by its tokens, in the forms in which people write it.
func TestSetup(t *testing.T) {
	files := folder(map[string]string{"requirements.txt": "torch>=2.1\nnumpy\n", "requirements/base.txt": "einops\n", "dev.txt": "pytest\n"})
	for name, c := range map[string]struct{ src, want, python string }{
		"literal": {`from setuptools import setup
setup(name="x", python_requires=">=3.8,<3.12",
      install_requires=[
        "torch>=1.13",  # "not this"
        "numpy" ">=1.20",
      ], classifiers=["A :: B"])`, "torch>=1.13 | numpy>=1.20", ">=3.8,<3.12"},
		"names": {`
NAME = 'x'
TORCH = "2.4"
deps = ["scipy"]
deps += [f"torch=={TORCH}"]
if NAME != "y":
    deps.append("tqdm")
setuptools.setup(install_requires=deps)`, "scipy | torch==2.4 | tqdm", ""},
		"a file in a function": {`
def load(path="requirements.txt"):
    with open(path) as f:
        for line in f:
            yield line
readme = open("README.txt").read()
setup(install_requires=list(load()), long_description=readme)`, "torch>=2.1 | numpy", ""},
		"a comprehension over a file": {`
setup(install_requires=[l.strip() for l in open(os.path.join(os.path.dirname(__file__), "requirements", "base.txt")) if not l.startswith("#")])`, "einops", ""},
		"a table by names": {`
_deps = ["torch>=2.0", "flax", "numpy<2"]
deps = {b: a for a, b in (re.findall(r"(x)", x)[0] for x in _deps)}
install_requires = [deps["numpy"], deps["torch"]]
setup(install_requires=install_requires)`, "numpy<2 | torch>=2.0", ""},
		"keywords in a dict": {`
kw = dict(install_requires=["torch"], python_requires=">=3.9")
setup(name="x", **kw)`, "torch", ">=3.9"},
		"lines of a text": {`setup(install_requires="""torch
numpy""".splitlines())`, "torch | numpy", ""},
		"within a function": {`
def do_setup(data):
    setup(install_requires=["torch"])
do_setup({})`, "torch", ""},
		"nothing": {`setup(name="x", install_requires=[])`, "", ""},
		"broken":  {`setup(install_requires=["torch`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Read([]byte(c.src), "setup.py", files)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(p); got != c.want || p.Python != c.python {
				t.Errorf("%q, Python %q; want %q, %q", got, p.Python, c.want, c.python)
			}
		})
	}
}

// Extras that bring torch are named, and one that is asked for is read.
func TestSetupExtras(t *testing.T) {
	src := `extras = {"gpu": ["torch==2.4.0", "triton"], "dev": ["pytest"]}
extras["all"] = ["torch"]
setup(install_requires=["numpy"], extras_require=extras)`
	p, err := Read([]byte(src), "setup.py", nil, "gpu")
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(p); got != "numpy | torch==2.4.0 | triton" {
		t.Error(got)
	}
	if want := []Carrier{{"all", "torch"}, {"gpu", "torch==2.4.0"}}; !slices.Equal(p.TorchIn, want) {
		t.Error(p.TorchIn)
	}
	if _, err := Read([]byte(src), "setup.py", nil, "no"); err == nil {
		t.Error("an extra that is not there was taken")
	}
}

// What is no path below the project is not opened.
func TestSetupOpensNothingElsewhere(t *testing.T) {
	var opened []string
	open := func(path string) ([]byte, error) { opened = append(opened, path); return nil, errors.New("no") }
	_, err := Read([]byte(`setup(install_requires=open("/etc/secret.txt").read() + open("../other.txt").read())`), "p/setup.py", open)
	if err != nil || len(opened) > 0 {
		t.Error(opened, err)
	}
}

func TestSetupCfg(t *testing.T) {
	p, err := Read([]byte(`[metadata]
name = x
[options]
python_requires = >=3.9
install_requires =
    torch>=2.4,<2.7
    # a comment
    numpy
[options.extras_require]
all =
    torchvision
    torch
[isort]
known = a
`), "setup.cfg", nil, "all")
	if err != nil || texts(p) != "torch>=2.4,<2.7 | numpy | torchvision | torch" || p.Python != ">=3.9" {
		t.Error(texts(p), p, err)
	}
	p, err = Read([]byte("[options]\ninstall_requires = file: requirements.txt\n"), "setup.cfg", folder(map[string]string{"requirements.txt": "einops"}))
	if err != nil || texts(p) != "einops" {
		t.Error(texts(p), err)
	}
}

// A pyproject.toml without dependencies says so, and one that takes them from files follows
// them.
func TestProjectTools(t *testing.T) {
	files := folder(map[string]string{"requirements.txt": "torch==2.5.1\n"})
	for name, c := range map[string]struct {
		src, want, python string
		silent            bool
	}{
		"settings alone": {"[build-system]\nrequires = [\"torch\"]\n[tool.black]\nline-length = 1\n", "", "", true},
		"dynamic":        {"[project]\nname = \"x\"\ndynamic = [\"dependencies\"]\n", "", "", true},
		"dynamic file": {"[project]\nname = \"x\"\ndynamic = [\"dependencies\"]\n[tool.setuptools.dynamic]\ndependencies = {file = [\"requirements.txt\"]}\n",
			"torch==2.5.1", "", false},
		"none": {"[project]\nname = \"x\"\nversion = \"1\"\n", "", "", false},
		"poetry": {"[tool.poetry]\nname = \"x\"\n[tool.poetry.dependencies]\npython = \"^3.9\"\nexact = \"=4.30.0\"\nlabel = \"^2.0.0+cu118\"\ntorch = \"~2.4\"\nnumpy = {version = \"^1.26\", extras = [\"a\"], python = \">=3.10\"}\nopt = {version = \"1\", optional = true}\nlib = {git = \"https://host/lib\"}\n",
			"exact==4.30.0 | label>=2.0.0,<3 | numpy[a]>=1.26,<2 ; python_version >= '3.10' | torch>=2.4,<2.5", ">=3.9,<4", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Read([]byte(c.src), "pyproject.toml", files)
			if err != nil || texts(p) != c.want || p.Python != c.python || p.Silent != c.silent {
				t.Errorf("%q %q silent %v %v", texts(p), p.Python, p.Silent, err)
			}
		})
	}
}

// What conda writes: a patch release of Python, a toolkit, three numbers of CUDA, a list
// of `conda list --export`, files of the machine that built a package.
func TestCondaForms(t *testing.T) {
	e, err := ReadEnvironment([]byte("dependencies: [python=3.7.13, cuda, pytorch=2.1, pytorch-cuda=11.7.0, pip: [x]]"), "environment.yml", nil)
	if err != nil || MinorPython(e.Python) != "==3.7.*" || e.CUDA != "11.7" || texts(&e.Project) != "torch==2.1.*" {
		t.Errorf("%q %q %q %v", e.Python, e.CUDA, texts(&e.Project), err)
	}
	e, err = ReadEnvironment([]byte("dependencies: [python=3.9, ffmpeg, pip: [torch==1.13.1, einops]]"), "environment.yml", nil)
	if err != nil || !e.Pip || texts(&e.Project) != "torch==1.13.1 | einops" || !strings.Contains(strings.Join(e.Notes, " "), "ffmpeg") {
		t.Errorf("%v %q %q %v", e.Pip, texts(&e.Project), e.Notes, err)
	}
	p, err := Read([]byte("# conda list\nnumpy=1.21.2=py39h20f2e39_0\n_libgcc_mutex=0.1=main\npytorch=2.1.0=py3.9_cuda11.8_cudnn8.7.0_0\npython=3.9.7=h12debd9_1\nrich=13.0=pypi_0\n"+
		"attrs @ file:///croot/attrs_1/work\n"), "requirements.txt", nil)
	if err != nil || texts(p) != "numpy==1.21.2 | torch==2.1.0 | rich==13.0 | attrs" || p.Python != "==3.9.7" {
		t.Errorf("%q %q %v", texts(p), p.Python, err)
	}
	p, err = Read([]byte("# Name                    Version                   Build  Channel\n_libgcc_mutex             0.1                        main  \n"+
		"numpy                     1.21.2           py39h20f2e39_0    conda-forge\npython                    3.9.7                h12debd9_1\nrich                      13.0                     pypi_0    pypi\n"), "requirements.txt", nil)
	if err != nil || texts(p) != "numpy==1.21.2 | rich==13.0" || p.Python != "==3.9.7" || // what `conda list` prints
		strings.Join(p.Notes, "|") != "requirements.txt: packages of conda's are not followed: _libgcc_mutex" {
		t.Errorf("%q %q %q %v", texts(p), p.Python, p.Notes, err)
	}
	p, err = Read([]byte("torch=2.1.0\nnumpy=1.21\nrich\na @ file:///croot/a_1/work\nb @ file:///tmp/build/80754af9/b_1/work\n"), "requirements.txt", nil)
	if said := strings.Join(p.Notes, "|"); err != nil || texts(p) != "torch==2.1.0.* | numpy==1.21.* | rich | a | b" ||
		said != "requirements.txt: it names files of the machine that wrote the list: the version is left open of a, b|"+
			"requirements.txt: it has a version as conda writes it, which is followed, and which pip refuses: torch=2.1.0, numpy=1.21" {
		t.Errorf("%q %q %v", texts(p), said, err)
	}
	e, err = ReadEnvironment([]byte("dependencies: [a=1=h_0, b=2=h_1, c]"), "environment.yml", nil) // hundreds of such lines are one note
	if err != nil || strings.Join(e.Notes, "|") != "environment.yml: the build is not followed, envfix chooses it: a, b" {
		t.Errorf("%q %v", e.Notes, err)
	}
	e, err = ReadPixi([]byte("[dependencies]\npython = \"<3.11\"\npytorch = {version = \">=2.2,<2.3\"}\n[pypi-dependencies]\neinops = \"*\"\n[feature.dev.dependencies]\nx = \"*\"\n"), "pixi.toml")
	if err != nil || texts(&e.Project) != "torch>=2.2,<2.3 | einops" || e.Python != "<3.11" {
		t.Errorf("%q %q %v", texts(&e.Project), e.Python, err)
	}
}

// Lines of scripts and documents that install are found, with their index.
func TestInstalls(t *testing.T) {
	got := Installs([]byte("# x\nRUN apt-get install -y git && pip install torch==2.4.0 \\\n  torchvision==0.19.0 --index-url https://download.pytorch.org/whl/cu118\n`pip install -e .` or `pip install einops`\n# pip install no\n"))
	if len(got) != 1 && len(got) != 2 {
		t.Fatal(got)
	}
	if got[0].Line != 2 || strings.Join(got[0].Words, " ") != "torch==2.4.0 torchvision==0.19.0" || got[0].Index != "https://download.pytorch.org/whl/cu118" || got[0].Torch() == "" {
		t.Errorf("%+v", got[0])
	}
	got = Installs([]byte("$ conda install pytorch=1.6.0 torchvision==0.7.0=py38 cudatoolkit=10.1 opencv -c pytorch\n# conda install pytorch\nconda install scipy\n"))
	if len(got) != 1 || !got[0].Conda || strings.Join(got[0].Words, " ") != "torch==1.6.0 torchvision==0.7.0" {
		t.Errorf("%+v", got)
	}
}

// A project is built where it says so, as uv judges it.
func TestBuilds(t *testing.T) {
	const system = "[build-system]\nrequires = ['hatchling']\n"
	for text, want := range map[string]string{
		system + "[project]\nname = 'x'\n":                                 "builds",
		"[build-system]\nrequires = []\n[tool.poetry]\nname = 'x'\n":       "builds",
		"[build-system]\nrequires = ['torch>=2']\n[project]\nname = 'x'\n": "builds with torch",
		"[project]\nname = 'x'\n":                                          "",
		"[project]\nname = 'x'\n[tool.setuptools]\npackages = ['x']\n":     "builds",
		system: "",
		system + "[project]\nname = 'x'\n[tool.uv]\npackage = false\n":              "",
		system + "[tool.poetry]\nname = 'x'\npackage-mode = false\n":                "",
		"from setuptools import setup\nsetup(name='x')":                             "builds",
		"from torch.utils import cpp_extension\nimport setuptools\nsetup(name='x')": "builds with torch",
		"print('no setup')": "",
	} {
		name := "pyproject.toml"
		if strings.Contains(text, "(") {
			name = "setup.py"
		}
		p, err := Read([]byte(text), name, folder(nil))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p.Builds {
			got = "builds"
		}
		if more := append(p.BuildNeeds, p.BuildImport...); p.Builds && slices.ContainsFunc(more, func(n string) bool { return strings.HasPrefix(n, "torch") }) {
			got += " with torch"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The setup.py of nbdev's projects takes all from their settings.
func TestNbdev(t *testing.T) {
	open := func(string) ([]byte, error) {
		return []byte("[DEFAULT]\nlib_name = told\nmin_python = 3.9\nrequirements = einops timm<2 \\\n    torch>=2\ndev_requirements = nbdev\n"), nil
	}
	p, err := ReadSetup([]byte("config.read('settings.ini')\nsetup(name=cfg['lib_name'])\n"), "setup.py", open, "dev")
	if err != nil || p.Name != "told" || p.Python != ">=3.9" || texts(p) != "einops | timm<2 | torch>=2 | nbdev" || !p.Builds || p.Requirements[0].From != "settings.ini: requirements" {
		t.Errorf("%+v %v", p, err)
	}
}
