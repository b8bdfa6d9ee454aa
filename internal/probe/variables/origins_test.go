package variables

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// Every place that can put a directory into LD_LIBRARY_PATH of this process, and
// the same place where it does not.
func TestOrigins(t *testing.T) {
	const dir = "/opt/cuda-12.3/lib64"
	bashrc := machine.Origin{Kind: machine.OriginProfile, File: "~/.bashrc", Line: 2}
	module := machine.Origin{Kind: machine.OriginModule, Name: "cuda/12.3", File: "/apps/modules/cuda/12.3", Line: 4}
	for name, test := range map[string]struct {
		files map[string]string
		env   []string
		want  []machine.Origin
	}{
		"nothing sets it":            {map[string]string{"home/me/.bashrc": "export PATH=" + dir + "\n# LD_LIBRARY_PATH=" + dir + "\nexport LD_LIBRARY_PATH=" + dir + "/stubs\n"}, nil, nil},
		"our own block":              {map[string]string{"home/me/.bashrc": "# >>> envfix profile >>>\nLD_LIBRARY_PATH=$(printf %s \"${LD_LIBRARY_PATH-}\" | grep -Fxv -- '" + dir + "')\n# <<< envfix profile <<<\n"}, nil, nil},
		"a profile":                  {map[string]string{"home/me/.bashrc": "\nexport LD_LIBRARY_PATH=" + dir + "/:${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n"}, nil, []machine.Origin{bashrc}},
		"by a variable of the file":  {map[string]string{"home/me/.bashrc": "CUDA_HOME=/opt/cuda-12.3\nexport LD_LIBRARY_PATH=\"$CUDA_HOME/lib64:$LD_LIBRARY_PATH\"\n"}, nil, []machine.Origin{bashrc}},
		"by a variable of the shell": {map[string]string{"home/me/.bashrc": "\n[ -d x ] && export LD_LIBRARY_PATH=${CUDA_HOME:-/none}/lib64\n"}, []string{"CUDA_HOME=/opt/cuda-12.3"}, []machine.Origin{bashrc}},
		"by a default":               {map[string]string{"home/me/.bashrc": "\nexport LD_LIBRARY_PATH=${CUDA_HOME:-/opt/cuda-12.3}/lib64\n"}, nil, []machine.Origin{bashrc}},
		"by a program":               {map[string]string{"home/me/.bashrc": "\nexport LD_LIBRARY_PATH=$(nvcc-home)/lib64\n"}, nil, nil},
		"over two lines":             {map[string]string{"home/me/.bashrc": "\nexport LD_LIBRARY_PATH=/x:\\\n  " + dir + "\n"}, nil, []machine.Origin{bashrc}},
		"two places":                 {map[string]string{"home/me/.bashrc": "\nLD_LIBRARY_PATH=" + dir + "\n", "etc/environment": "LD_LIBRARY_PATH=\"" + dir + "\"\n"}, nil, []machine.Origin{bashrc, {Kind: machine.OriginEnvironment, File: "/etc/environment", Line: 1}}},
		"profile.d":                  {map[string]string{"etc/profile.d/cuda.sh": "export LD_LIBRARY_PATH=" + dir}, nil, []machine.Origin{{Kind: machine.OriginProfile, File: "/etc/profile.d/cuda.sh", Line: 1}}},
		"fish":                       {map[string]string{"home/me/.config/fish/config.fish": "set -gx LD_LIBRARY_PATH /x " + dir + " $LD_LIBRARY_PATH\n"}, nil, []machine.Origin{{Kind: machine.OriginProfile, File: "~/.config/fish/config.fish", Line: 1}}},
		"csh":                        {map[string]string{"home/me/.cshrc": "setenv LD_LIBRARY_PATH " + dir + ":${LD_LIBRARY_PATH}\n"}, nil, []machine.Origin{{Kind: machine.OriginProfile, File: "~/.cshrc", Line: 1}}},
		"a Tcl module": {map[string]string{"apps/modules/cuda/12.3": "#%Module1.0\nset version 12.3\nset root /opt/cuda-$version\nprepend-path LD_LIBRARY_PATH [file join $root lib64]\n"},
			[]string{"LOADEDMODULES=gcc/12:cuda/12.3", "_LMFILES_=/apps/modules/gcc/12:/apps/modules/cuda/12.3"}, []machine.Origin{module}},
		"a module that is not loaded": {map[string]string{"apps/modules/cuda/12.3": "#%Module\nprepend-path LD_LIBRARY_PATH " + dir + "\n"}, []string{"LOADEDMODULES=gcc/12", "MODULEPATH=/apps/modules"}, nil},
		"an Lmod module": {map[string]string{"apps/modules/cuda/12.3.lua": "-- prepend_path(\"LD_LIBRARY_PATH\", \"" + dir + "\")\nlocal version = \"12.3\"\nlocal base = \"/opt/cuda-\" .. version\nprepend_path(\"LD_LIBRARY_PATH\", pathJoin(base, \"lib64\"))\n"},
			[]string{"LOADEDMODULES=cuda/12.3", "MODULEPATH=/nowhere:/apps/modules"}, []machine.Origin{{Kind: machine.OriginModule, Name: "cuda/12.3", File: "/apps/modules/cuda/12.3.lua", Line: 4}}},
		"conda's activate.d": {map[string]string{"conda/envs/ml/etc/conda/activate.d/cudatoolkit.sh": "export LD_LIBRARY_PATH=\"" + dir + ":$LD_LIBRARY_PATH\"\n"}, []string{"CONDA_PREFIX=/conda/envs/ml"},
			[]machine.Origin{{Kind: machine.OriginConda, Name: "ml", File: "/conda/envs/ml/etc/conda/activate.d/cudatoolkit.sh", Line: 1}}},
		"conda's variables": {map[string]string{"conda/envs/ml/conda-meta/state": `{"env_vars": {"LD_LIBRARY_PATH": "/x:` + dir + `"}}`}, []string{"CONDA_PREFIX=/conda/envs/ml"},
			[]machine.Origin{{Kind: machine.OriginConda, Name: "ml", File: "/conda/envs/ml/conda-meta/state"}}},
		"direnv": {map[string]string{"p/.envrc": "export LD_LIBRARY_PATH=" + dir + "\n"}, []string{"DIRENV_FILE=/p/.envrc"},
			[]machine.Origin{{Kind: machine.OriginProfile, File: "/p/.envrc", Line: 1}}},
		"a venv": {map[string]string{"v/bin/activate": "VIRTUAL_ENV=/v\nexport LD_LIBRARY_PATH=" + dir + "\n"}, []string{"VIRTUAL_ENV=/v"}, []machine.Origin{{Kind: machine.OriginVenv, Name: "v", File: "/v/bin/activate", Line: 2}}},
		"the user manager's": {map[string]string{"home/me/.config/environment.d/50-cuda.conf": "LD_LIBRARY_PATH=" + dir + ":${LD_LIBRARY_PATH}\n"}, nil,
			[]machine.Origin{{Kind: machine.OriginEnvironmentD, File: "~/.config/environment.d/50-cuda.conf", Line: 1}}},
		"our own unit": {map[string]string{"proc/self/cgroup": "0::/system.slice/jupyter@me.service\n", "etc/systemd/system/jupyter@.service": "[Service]\nExecStart=/x\n",
			"etc/systemd/system/jupyter@.service.d/cuda.conf": "[Service]\nEnvironment=A=b \"LD_LIBRARY_PATH=/x:" + dir + "\"\n"}, nil,
			[]machine.Origin{{Kind: machine.OriginSystemd, Name: "jupyter@me.service", File: "/etc/systemd/system/jupyter@.service.d/cuda.conf", Line: 2}}},
		"a file that our unit names": {map[string]string{"proc/self/cgroup": "0::/user.slice/user-1000.slice/user@1000.service/app.slice/lab.service\n",
			"home/me/.config/systemd/user/lab.service": "[Service]\nEnvironmentFile=-/etc/default/lab\n", "etc/default/lab": "LD_LIBRARY_PATH=" + dir + "\n"}, nil,
			[]machine.Origin{{Kind: machine.OriginSystemd, Name: "lab.service", File: "/etc/default/lab", Line: 1}}},
		"another unit": {map[string]string{"proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n", "etc/systemd/system/jupyter.service": "[Service]\nEnvironment=LD_LIBRARY_PATH=" + dir + "\n"}, nil, nil},
		"a container's start": {map[string]string{".dockerenv": "", "proc/1/environ": "PATH=/bin\x00LD_LIBRARY_PATH=/x:" + dir + "\x00"}, nil,
			[]machine.Origin{{Kind: machine.OriginContainer, File: "/proc/1/environ"}}},
		"not in a container": {map[string]string{"proc/1/environ": "LD_LIBRARY_PATH=" + dir + "\x00"}, nil, nil},
	} {
		h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, test.files), OS: "linux", Env: append(test.env, "HOME=/home/me"), Dir: "/p"})
		if diff := cmp.Diff(test.want, (&Origins{Host: h}).Of("LD_LIBRARY_PATH", dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzAssignments: profiles and module files are text of others.
func FuzzAssignments(f *testing.F) {
	f.Add("export LD_LIBRARY_PATH=${A:-$B}/x:$(y)\n", ShellText)
	f.Add("prepend_path(\"LD_LIBRARY_PATH\", pathJoin(base, \"lib64\"))", luaText)
	f.Add("prepend-path LD_LIBRARY_PATH [file join $root lib64]", tclText)
	f.Add("Environment=\"A=b c\" D", systemdText)
	f.Add("set -gx A b", fishText)
	f.Fuzz(func(t *testing.T, text, language string) {
		for _, a := range Assignments(text, language, func(string) string { return "/x" }) {
			if a.Line < 1 || a.Variable == "" {
				t.Errorf("%+v", a)
			}
			for _, d := range a.dirs {
				if d == "" || d[0] != '/' {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}
