package team

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// findUV looks for uv on PATH and in envfix's own tool environment, and brings it there
// where it is missing, as `envfix apply` does.
func (t *Team) findUV(ctx context.Context, u uvTool) (string, error) {
	if path := system.UV(t.Tools); path != "" {
		return path, nil
	}
	dir := filepath.Join(t.Tools, "uv")
	python, err := system.OnPath("python3")
	if err != nil {
		python, err = system.OnPath("python")
	}
	switch {
	case u.offline:
		return "", noUV("`--offline` brings none", nil, nil)
	case err != nil:
		return "", noUV("there is no Python to bring it with", nil, nil)
	}
	t.tell("envfix: uv is not here; it is brought into " + dir + ", for envfix alone")
	if t.Progress != nil {
		t.Progress(0, 0, "bringing uv")
	}
	if err := t.bringUV(ctx, python, u.index, dir); err != nil {
		return "", err
	}
	return system.UV(t.Tools), nil
}

func noUV(why string, details []string, err error, hints ...string) error {
	return &fail.Error{Code: fail.Failed, Text: "locking for several systems needs uv, none is here, and " + why, Details: details, Err: err,
		Hints: append([]string{"put uv on PATH: one file, which `python3 -m pip install uv` brings where there is a network"}, hints...)}
}

// bringUV makes an environment with uv aside and renames it: two locks at a time do not
// see half of one.
func (t *Team) bringUV(ctx context.Context, python, index, dir string) error {
	if err := os.MkdirAll(t.Tools, 0o700); err != nil {
		return noUV("its folder cannot be made: "+clean(err.Error()), nil, err)
	}
	fresh, err := os.MkdirTemp(t.Tools, ".uv-")
	if err != nil {
		return noUV("its folder cannot be made: "+clean(err.Error()), nil, err)
	}
	defer os.RemoveAll(fresh)
	install := []string{system.EnvProgram(fresh, "python"), "-I", "-m", "pip", "install", "--isolated", "--disable-pip-version-check", "--no-input",
		"--only-binary", ":all:"}
	if index != "" {
		install = append(install, "--index-url", index)
	}
	for _, argv := range [][]string{{python, "-I", "-m", "venv", fresh}, append(install, "uv")} {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(UVEnvironment(os.Environ(), ""), "PIP_CONFIG_FILE="+os.DevNull)
		cmd.WaitDelay = time.Second
		said := system.Tail{Most: mostTail}
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return fail.New(fail.Interrupted, "interrupted")
			}
			return noUV("it cannot be brought", said.Lines(0), err, "`--mirror default=URL` names another index to bring it from")
		}
	}
	if err := os.Rename(fresh, dir); err != nil && system.OwnTool(t.Tools, "uv") == "" {
		return noUV("it cannot be put into its folder", nil, err)
	}
	return nil
}
