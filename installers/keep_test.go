package installers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

const (
	pureTag = "py3-none-any"
	cp312   = "cp312-cp312-manylinux_2_28_x86_64"
	cp310   = "cp310-cp310-manylinux_2_28_x86_64"
	commit  = "0123456789abcdef0123456789abcdef01234567"
)

// held is an environment with torch 2.4.0 for CUDA 12.1 and these packages.
func held(dists ...machine.HeldDist) *machine.Held {
	h := &machine.Held{Files: true, Dists: append(dists, machine.HeldDist{Name: "torch", Version: "2.4.0+cu121"})}
	slices.SortFunc(h.Dists, func(a, b machine.HeldDist) int { return strings.Compare(a.Name, b.Name) })
	return h
}

func dist(name, version string, requires ...string) machine.HeldDist {
	return machine.HeldDist{Name: name, Version: version, Requires: requires, Tags: []string{pureTag}, Digest: "d", Whole: true}
}

// part is a distribution of which a file is missing.
func part(d machine.HeldDist) machine.HeldDist {
	d.Whole = false
	return d
}

// with changes one distribution.
func with(d machine.HeldDist, change func(*machine.HeldDist)) machine.HeldDist {
	change(&d)
	return d
}

func from(kind, url string, more ...string) func(*machine.HeldDist) {
	return func(d *machine.HeldDist) {
		d.Origin = &machine.DirectURL{Kind: kind, URL: url}
		for _, m := range more {
			switch name, value, _ := strings.Cut(m, " "); name {
			case "git":
				d.Origin.VCS, d.Origin.Commit = "git", value
			case "hash":
				d.Origin.Hash = value
			case "below":
				d.Origin.Subdirectory = value
			case "links":
				d.Origin.Links = []string{value}
			case "gone":
				d.Origin.Gone = true
			}
		}
	}
}

// lines is what becomes of the packages, torch left out.
func lines(c *plan.Keep) []string {
	out := []string{}
	if c.Why != "" {
		out = append(out, "nothing: "+c.Why)
	}
	for _, k := range c.Changes {
		if k.Name != "torch" {
			out = append(out, fmt.Sprintf("changes %s %s → %s%s", k.Name, k.From, k.To, k.Why))
		}
	}
	for _, k := range c.Stays {
		line := "stays " + k.Name + " " + k.Version
		if k.From != "" {
			line += " from " + k.From
		} else if !k.Copied {
			line += " by its name"
		}
		if k.Loose {
			line += " (loose)"
		}
		if k.Python {
			line += " (another file)"
		}
		out = append(out, line)
	}
	for _, k := range c.Leaves {
		out = append(out, strings.TrimSpace("leaves "+k.Name+" "+k.Version)+": "+k.Why)
	}
	for _, k := range c.Known {
		out = append(out, "known "+k.Text)
	}
	return out
}

func TestCarry(t *testing.T) {
	hash := "sha256=" + strings.Repeat("ab", 32)
	torchLink := func(d *machine.HeldDist) { d.Links = []string{"libc10.so", "libtorch_cpu.so"} }
	for _, test := range []struct {
		name    string
		held    *machine.Held
		request resolver.Request
		choice  func(*resolver.Choice)
		target  plan.Target
		want    []string
	}{
		{name: "everything stays in its version", held: held(dist("requests", "2.32.3", "urllib3<3,>=1.21"), dist("urllib3", "2.2.1"), dist("sympy", "1.12")),
			want: []string{"stays requests 2.32.3", "stays sympy 1.12 (loose)", "stays urllib3 2.2.1"}},
		{name: "torch's libraries come anew, and torchvision", held: held(dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("nvidia-ml-py", "12.0"), dist("triton", "3.0.0"), dist("torchvision", "0.19.0")),
			want: []string{"changes torchvision 0.19.0 → 0.29.1+cu126", "changes nvidia-cudnn-cu12 9.1.0.70 → as torch needs it", "changes triton 3.0.0 → as torch needs it", "stays nvidia-ml-py 12.0"}},
		{name: "a companion that does not exist for the new torch", held: held(dist("torchtext", "0.18.0")),
			want: []string{"leaves torchtext 0.18.0: none goes with torch 2.14.1"}},
		{name: "its metadata pins another torch", held: held(dist("pinned", "1.0", "torch==2.4.0"), dist("range", "1.0", "torch>=2.0"), dist("other-python", "1", "torch==2.4.0; python_version < '3.10'"), dist("extra", "1", "torch==2.4.0; extra == 'old'")),
			want: []string{"stays extra 1", "stays other-python 1", "stays range 1.0", "leaves pinned 1.0: needs torch==2.4.0"}},
		{name: "it pins the label of a build", held: held(dist("pinned", "1.0", "torch==2.14.1+cu121")),
			want: []string{"leaves pinned 1.0: needs torch==2.14.1+cu121"}},
		{name: "what needs what leaves finds another, or leaves too", held: held(dist("pinned", "1.0", "torch==2.4.0"), dist("free", "1.0", "pinned>=0.5"), dist("exact", "1.0", "pinned==1.0"), dist("on-exact", "1", "exact==1.0")),
			target: plan.Target{FromIndex: []string{"pinned"}},
			want:   []string{"changes pinned 1.0 → it needs torch==2.4.0; the installer finds another", "stays free 1.0 (loose)", "leaves exact 1.0: needs pinned==1.0, which cannot stay", "leaves on-exact 1: needs exact==1.0, which cannot stay"}},
		{name: "no index is asked for what may not be its", held: held(dist("pinned", "1.0", "torch==2.4.0"), dist("free", "1.0", "pinned>=0.5")),
			want: []string{"leaves free 1.0: needs pinned>=0.5, which cannot stay", "leaves pinned 1.0: needs torch==2.4.0"}},
		{name: "what contradicts already stays, and is known", held: held(dist("pandas", "3.1.1", "numpy>=2.0.2", "pytz"), dist("numpy", "1.26.4")),
			want: []string{"stays numpy 1.26.4", "stays pandas 3.1.1", "known pandas 3.1.1 needs numpy>=2.0.2, and 1.26.4 is installed", "known pandas 3.1.1 needs pytz, which is not installed"}},
		{name: "another numpy is asked for", held: held(dist("old", "1.0", "numpy<2"), dist("numpy", "1.26.4")), request: resolver.Request{Requirements: []pep508.Requirement{requirement(t, "numpy==2.1.0")}},
			want: []string{"changes numpy 1.26.4 → as you asked for it", "leaves old 1.0: needs numpy<2"}},
		{name: "compiled against the old torch", held: held(with(dist("ext", "1.0"), torchLink)),
			want: []string{"leaves ext 1.0: is compiled against torch 2.4.0+cu121"}},
		{name: "compiled against this torch", held: held(with(dist("ext", "1.0"), torchLink)), choice: func(c *resolver.Choice) { c.Torch, c.Build = "2.4.1", "cu121" },
			want: []string{"stays ext 1.0"}},
		{name: "links the CUDA that goes", held: held(with(dist("ext", "1.0"), func(d *machine.HeldDist) { d.Links = []string{"libcudart.so.11.0", "libcublas.so.11"} })),
			want: []string{"leaves ext 1.0: links libcudart.so.11.0, and torch 2.14.1 brings CUDA 12.6"}},
		{name: "links the CUDA that stays", held: held(with(dist("ext", "1.0"), func(d *machine.HeldDist) { d.Links = []string{"libcudart.so.12", "libcudnn.so.9"} })),
			want: []string{"stays ext 1.0"}},
		{name: "libcudart.so.11.0 is CUDA 11's", held: held(with(dist("ext", "1.0"), func(d *machine.HeldDist) { d.Links = []string{"libcudart.so.11.0"} })), choice: func(c *resolver.Choice) { c.CUDA = "11.8" },
			want: []string{"stays ext 1.0"}},
		{name: "a library of another CUDA is needed", held: held(dist("nvidia-cublas-cu11", "11.1"), dist("uses", "1", "nvidia-cublas-cu11")),
			want: []string{"changes nvidia-cublas-cu11 11.1 → as another package needs it", "stays uses 1 (loose)"}},
		{name: "another cuDNN than torch's is needed", held: held(dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("exact", "1", "nvidia-cudnn-cu12==9.1.0.70"), dist("range", "1", "nvidia-cudnn-cu12>=9")),
			want: []string{"changes nvidia-cudnn-cu12 9.1.0.70 → as torch needs it", "stays range 1", "leaves exact 1: needs nvidia-cudnn-cu12==9.1.0.70"}},
		{name: "where it came from", held: held(
			with(dist("mine", "0.1"), from(machine.FromEditable, "file:///home/me/a%20project")),
			with(dist("gone", "0.1"), from(machine.FromEditable, "file:///home/me/gone", "gone ")),
			with(dist("built", "0.1"), from(machine.FromEditable, "file:///home/me/ext", "links libtorch.so")),
			with(dist("plain", "0.1"), from(machine.FromDir, "file:///home/me/plain", "below python")),
			with(dist("repository", "1"), from(machine.FromVCS, "https://git.example/x.git", "git "+commit, "below sub/dir")),
			with(dist("branch", "1"), from(machine.FromVCS, "https://git.example/x.git", "git main")),
			with(dist("keys", "1"), from(machine.FromVCS, "ssh://git@git.example/x.git", "git "+commit)),
			with(dist("wheel-there", "1"), from(machine.FromArchive, "https://files.example/w-1-py3-none-any.whl", "hash "+hash)),
			with(dist("by-uv", "1"), from(machine.FromArchive, "https://files.example/w-1-py3-none-any.whl")),
			with(dist("no-hash", "1"), from(machine.FromArchive, "http://files.example/w-1-py3-none-any.whl")),
			with(dist("secret", "1"), from(machine.FromArchive, "https://me:word@files.example/w.whl", "hash "+hash)),
			with(dist("odd", "1"), from(machine.FromArchive, "https://files.example/$(touch x).whl", "hash "+hash)),
			with(dist("up", "1"), from(machine.FromDir, "file:///home/me/plain", "below ../x"))),
			want: []string{
				"stays branch 1",
				"stays by-uv 1 from https://files.example/w-1-py3-none-any.whl",
				"stays keys 1",
				"stays mine 0.1 from -e file:///home/me/a%20project",
				"stays no-hash 1", "stays odd 1",
				"stays plain 0.1 from file:///home/me/plain#subdirectory=python",
				"stays repository 1 from git+https://git.example/x.git@" + commit + "#subdirectory=sub/dir",
				"stays secret 1", "stays up 1",
				"stays wheel-there 1 from https://files.example/w-1-py3-none-any.whl#" + hash,
				"leaves built 0.1: is compiled against torch 2.4.0+cu121",
				"leaves gone 0.1: came from /home/me/gone, which is no longer there",
			}},
		{name: "where it came from, and its files are not what was installed", held: held(
			part(with(dist("branch", "1"), from(machine.FromVCS, "https://git.example/x.git", "git main"))),
			part(with(dist("keys", "1"), from(machine.FromVCS, "ssh://git@git.example/x.git", "git "+commit))),
			part(with(dist("no-hash", "1"), from(machine.FromArchive, "http://files.example/w-1-py3-none-any.whl"))),
			part(with(dist("secret", "1"), from(machine.FromArchive, "https://me:word@files.example/w.whl", "hash "+hash))),
			part(with(dist("odd", "1"), from(machine.FromArchive, "https://files.example/$(touch x).whl", "hash "+hash))),
			part(with(dist("up", "1"), from(machine.FromDir, "file:///home/me/plain", "below ../x")))),
			want: []string{
				"leaves branch 1: came from a repository at no commit that is known",
				"leaves keys 1: came by ssh, and installers are given none of your keys",
				"leaves no-hash 1: came from an address, and no hash of the file is known",
				"leaves odd 1: came from an address that cannot be used again",
				"leaves secret 1: its address holds a password, which a plan must not",
				"leaves up 1: came from an address that cannot be used again",
			}},
		{name: "what is gone is not taken from an index by its name", held: held(with(dist("private", "1.0"), from(machine.FromEditable, "file:///gone", "gone ")), dist("uses", "1", "private")),
			want: []string{"leaves private 1.0: came from /gone, which is no longer there", "leaves uses 1: needs private, which cannot stay"}},
		{name: "what no index has is copied", held: held(dist("labelled", "1.0+pt24cu121"), dist("ours", "1.0+cu126"), with(dist("built", "1.0"), func(d *machine.HeldDist) { d.Tags = []string{"cp312-cp312-linux_x86_64"} })),
			want: []string{"stays built 1.0", "stays labelled 1.0+pt24cu121", "stays ours 1.0+cu126"}},
		{name: "no index has it", held: held(part(dist("labelled", "1.0+pt24cu121")), part(dist("ours", "1.0+cu126")), part(with(dist("built", "1.0"), func(d *machine.HeldDist) { d.Tags = []string{"cp312-cp312-linux_x86_64"} }))),
			want: []string{"stays ours 1.0+cu126 by its name", "leaves built 1.0: was built here from source, and only wheels are installed", "leaves labelled 1.0+pt24cu121: the default index has no versions with a label such as +pt24cu121"}},
		{name: "a file is another", held: held(part(dist("one", "1"))),
			want: []string{"leaves one 1: nothing proves its files, and nothing here says that it is from the index in use (`--from-index one`)"}},
		{name: "a file is broken, and the index has those of the version", held: held(part(dist("one", "1")), with(part(dist("none", "1")), func(d *machine.HeldDist) { d.Digest = "" })),
			target: plan.Target{Repair: &plan.Repair{Rebuild: true}}, want: []string{"stays one 1 by its name",
				"leaves none 1: nothing proves its files, and nothing here says that it is from the index in use (`--from-index none`)"}},
		{name: "another file is asked of the index that it is from", held: held(with(dist("said", "1"), func(d *machine.HeldDist) { d.Tags = []string{cp310} }), with(dist("cached", "1"), func(d *machine.HeldDist) { d.Tags, d.Indexed = []string{cp310}, true }),
			with(dist("markupsafe", "1"), func(d *machine.HeldDist) { d.Tags = []string{cp310} })), target: plan.Target{FromIndex: []string{"said"}},
			want: []string{"stays cached 1 by its name (another file)", "stays markupsafe 1 by its name (loose) (another file)", "stays said 1 by its name (another file)"}},
		{name: "another Python", held: held(with(dist("native", "1"), func(d *machine.HeldDist) { d.Tags = []string{cp310} }), with(dist("stable", "1"), func(d *machine.HeldDist) { d.Tags = []string{"cp39-abi3-manylinux_2_28_x86_64"} }),
			with(dist("ready", "1"), func(d *machine.HeldDist) { d.Tags = []string{cp312} }), with(dist("old", "1"), func(d *machine.HeldDist) { d.RequiresPython = ">=3.7,<3.12" })),
			want: []string{"stays ready 1", "stays stable 1",
				"leaves native 1: needs another file for Python 3.12, and nothing here says that it is from the index in use (`--from-index native`)", `leaves old 1: needs Python >=3.7,<3.12, and the new one is 3.12`}},
		{name: "broken", held: &machine.Held{Leftovers: []string{"~orch"}, Dists: []machine.HeldDist{
			{Name: "half", Version: "1", Broken: "its metadata has no name or no version"}, {Name: "odd", Version: "one"}, {Name: "evil;name", Version: "1"}, {Name: "expands", Version: "1.0+${HOME}"}}},
			want: []string{
				`leaves evil;name 1: its name or its version is none: "1"`,
				`leaves expands 1.0+${HOME}: its name or its version is none: "1.0+${HOME}"`,
				"leaves half 1: its metadata has no name or no version", `leaves odd one: its name or its version is none: "one"`, "leaves ~orch: what an interrupted installation left"}},
		{name: "dropped", held: held(dist("a", "1"), dist("b", "1", "a"), dist("c", "1")), target: plan.Target{Drop: []string{"a"}},
			want: []string{"stays c 1", "leaves a 1: `--drop`", "leaves b 1: needs a, which cannot stay"}},
		{name: "fresh", held: held(dist("a", "1")), target: plan.Target{Fresh: true}, want: []string{"nothing: `--fresh`: the 2 packages that it holds are left behind"}},
		{name: "a file with hashes", held: held(dist("a", "1")), target: plan.Target{Listed: "requirements.txt"}, want: []string{"nothing: requirements.txt lists all that it is to hold, with hashes: nothing else is carried over"}},
		{name: "in place", held: held(dist("a", "1")), target: plan.Target{InPlace: true}, want: []string{"nothing: it is changed in place: its other packages stay as they are"}},
		{name: "conda", held: held(dist("a", "1")), target: plan.Target{Manager: "mamba"}, want: []string{"nothing: mamba makes a conda environment, into which the 2 packages of a virtual one are not carried"}},
		{name: "asked for", held: held(dist("transformers", "4.44.0"), dist("tokenizers", "0.19")), request: resolver.Request{Requirements: []pep508.Requirement{requirement(t, "transformers>=5")}},
			want: []string{"changes transformers 4.44.0 → as you asked for it", "stays tokenizers 0.19 (loose)"}},
		{name: "pip has its own", held: held(dist("pip", "20.0")), target: plan.Target{Manager: "pip"}, want: []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := choice()
			if test.choice != nil {
				test.choice(c)
			}
			test.target.Held = test.held
			p := must(t, v100(), test.request, install(c), test.target)
			if diff := cmp.Diff(test.want, lines(p.Keep)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What stays is installed before torch, without a resolver, from one index.
func TestCarrySteps(t *testing.T) {
	environment := held(dist("requests", "2.32.3"), dist("ours", "1.0+cu126"), dist("needs-pinned", "1", "pinned"), dist("pinned", "1", "torch==2.4.0"),
		with(dist("mine", "0.1"), from(machine.FromEditable, "file:///home/me/mine")),
		with(dist("repository", "1"), from(machine.FromVCS, "https://git.example/x.git", "git "+commit)), part(dist("broken", "1")))
	for manager, want := range map[string][]string{
		"uv": {
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"copy: copy .venv needs-pinned==1 ours==1.0+cu126 requests==2.32.3",
			"copied: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --no-cache --no-index --find-links {gen}/envfix-carried --no-deps -r {gen}/envfix-carried/requirements.txt",
			"carried: write {gen}/envfix-carried.txt",
			"carry: /usr/bin/uv pip install --python {gen}/bin/python --no-deps --only-binary :all: --default-index https://mirror.example/simple -r {gen}/envfix-carried.txt",
			"sources: /usr/bin/uv pip install --python {gen}/bin/python --no-deps --default-index https://mirror.example/simple --editable file:///home/me/mine repository @ git+https://git.example/x.git@" + commit,
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index https://mirror.example/simple torch==2.14.1+cu126 torchvision==0.29.1+cu126 pinned",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		},
		"pip": {
			"venv: /usr/bin/python3 -m venv {gen}",
			"copy: copy .venv needs-pinned==1 ours==1.0+cu126 requests==2.32.3",
			"copied: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --only-binary :all: --no-index --find-links {gen}/envfix-carried --no-deps -r {gen}/envfix-carried/requirements.txt",
			"carried: write {gen}/envfix-carried.txt",
			"carry: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url https://mirror.example/simple --no-deps -r {gen}/envfix-carried.txt",
			"sources: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url https://mirror.example/simple --no-deps --editable file:///home/me/mine repository @ git+https://git.example/x.git@" + commit,
			"torch: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"packages: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url https://mirror.example/simple torch==2.14.1+cu126 torchvision==0.29.1+cu126 pinned",
			"check: {gen}/bin/python -I -m pip --isolated check",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		},
	} {
		p := must(t, v100(), resolver.Request{}, install(choice()), plan.Target{Manager: manager, Held: environment, FromIndex: []string{"broken", "pinned"}, Mirrors: []string{"default=https://mirror.example/simple"}})
		if diff := cmp.Diff(want, commands(p)); diff != "" {
			t.Errorf("%s: %s", manager, diff)
		}
		content := ""
		for _, s := range p.Steps {
			if s.Write != nil {
				content = s.Write.Content
			}
		}
		if diff := cmp.Diff("broken==1\n", content); diff != "" {
			t.Errorf("%s: %s", manager, diff)
		}
	}
}

// Where nothing else is held, nothing is carried; and what conforms is built anew
// only where that is asked for.
func TestRebuild(t *testing.T) {
	h := v100()
	h.Pythons[0].Source = "venv"
	h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126"}, {Name: "torchvision", Version: "0.29.1+cu126"}, {Name: "requests", Version: "2"}}
	environment := &machine.Held{Files: true, Dists: []machine.HeldDist{dist("requests", "2"), dist("torch", "2.14.1+cu126"), dist("torchvision", "0.29.1+cu126")}}
	if p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Held: environment}); len(p.Steps) > 0 || p.Keep != nil {
		t.Errorf("steps where it conforms: %q, %+v", commands(p), p.Keep)
	}
	p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Held: environment, Repair: &plan.Repair{Rebuild: true}})
	want := &plan.Keep{From: ".venv", Changes: []plan.Change{}, Leaves: []plan.Dropped{},
		Stays: []plan.KeptPackage{{Name: "requests", Version: "2", Files: "d", Tags: pureTag, Copied: true}}}
	if diff := cmp.Diff(want, p.Keep); diff != "" || len(p.Steps) == 0 {
		t.Errorf("%d steps, %s", len(p.Steps), diff)
	}
}

// A locked environment is what the lock says, and nothing else.
func TestLockAlone(t *testing.T) {
	l := LockedProfile{Profile: &lock.Profile{Name: "gpu", Torch: "2.14.1", Build: "cu126", Python: "3.12", Match: lock.Match{OS: "linux"}},
		Packages: &lock.Packages{Packages: []lock.Package{{Name: "torch", Version: "2.14.1"}, {Name: "numpy", Version: "2.0"}}}}
	p, err := Locked(&matrix.Matrix{}, v100(), resolver.Request{}, l, plan.Target{Dir: ".venv", Held: held(dist("numpy", "1.26.4"), dist("requests", "2"), dist("pip", "24"))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"nothing: envfix.lock alone says what is in it; 1 package of the present one it does not name"}, lines(p.Keep)); diff != "" {
		t.Error(diff)
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == "carry" }) {
		t.Errorf("steps: %q", commands(p))
	}
}

// Whatever a direct_url.json says, an installer is given one argument of plain
// characters that is no option of it.
func FuzzAgain(f *testing.F) {
	f.Add("file:///home/me/mine", machine.FromEditable, "sub", commit, "")
	f.Add("https://git.example/x.git", machine.FromVCS, "", commit, "")
	f.Add("https://files.example/w.whl", machine.FromArchive, "", "", "sha256="+strings.Repeat("0", 64))
	f.Add("-e https://x y", machine.FromDir, "../..", "", "")
	f.Fuzz(func(t *testing.T, url, kind, below, commit, hash string) {
		text, why := again(&machine.DirectURL{Kind: kind, URL: url, VCS: "git", Commit: commit, Subdirectory: below, Hash: hash})
		if (text == "") == (why == "") {
			t.Fatalf("%q and %q", text, why)
		}
		text = strings.TrimPrefix(text, "-e ")
		if strings.HasPrefix(text, "-") || strings.ContainsAny(text, " \t\n\"'`$;\\<>|(){}") || strings.Contains(below, "..") && text != "" {
			t.Errorf("%q", text)
		}
	})
}
