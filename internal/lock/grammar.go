package lock

import (
	"fmt"
	"reflect"
	"slices"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// What the fields of a profile may say: they go into commands, containers and scripts.
var (
	wordForm    = lazy.Regexp(`^[a-z0-9_]{1,32}$`)
	labelForm   = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
	numberForm  = lazy.Regexp(`^[0-9]{1,5}(\.[0-9]{1,5}){0,4}$`)
	pythonForm  = lazy.Regexp(`^[0-9]{1,2}\.[0-9]{1,3}t?$`)
	libcForm    = lazy.Regexp(`^(glibc|musl)>=[0-9]{1,4}(\.[0-9]{1,4}){0,3}$`)
	driverForm  = lazy.Regexp(`^>=[0-9]{1,5}(\.[0-9]{1,5}){0,3}$`)
	smForm      = lazy.Regexp(`^[0-9]{1,2}\.[0-9]$`)
	gfxForm     = lazy.Regexp(`^gfx[0-9a-f]{3,8}$`)
	environment = []string{machine.Bare, machine.WSL2, machine.Container, machine.ContainerBuild, machine.Jetson, machine.HPCLogin}
)

// grammar refuses a profile whose fields say something else than envfix writes.
func (p *Profile) grammar() error {
	m := p.Match
	fields := []struct {
		name, value string
		ok          bool
	}{
		{"torch", p.Torch, versionText().MatchString(p.Torch)},
		{"python", p.Python, pythonForm().MatchString(p.Python)},
		{"build", p.Build, p.Build == "" || labelForm().MatchString(p.Build)},
		{"cuda", p.CUDA, p.CUDA == "" || numberForm().MatchString(p.CUDA)},
		{"cudnn", p.CuDNN, p.CuDNN == "" || numberForm().MatchString(p.CuDNN)},
		{"match.os", m.OS, slices.Contains([]string{"linux", "windows", "macos"}, m.OS)},
		{"match.arch", m.Arch, wordForm().MatchString(m.Arch)},
		{"match.libc", m.Libc, m.Libc == "" || libcForm().MatchString(m.Libc)},
		{"match.gpu", m.GPU, slices.Contains([]string{machine.NVIDIA, machine.AMD, machine.Intel, machine.Apple, "none"}, m.GPU)},
		{"match.driver", m.Driver, m.Driver == "" || driverForm().MatchString(m.Driver)},
		{"match.environment", m.Environment, m.Environment == "" || slices.Contains(environment, m.Environment)},
		{"driver.policy", p.Driver.Policy, p.Driver.Policy == "" || labelForm().MatchString(p.Driver.Policy)},
		{"driver.branch", p.Driver.Branch, p.Driver.Branch == "" || numberForm().MatchString(p.Driver.Branch)},
	}
	for _, f := range fields {
		if !f.ok {
			return fmt.Errorf("profile %s: %s is %q, which `envfix lock` does not write", p.Name, f.name, text.Clip(f.value, 120))
		}
	}
	for _, sm := range m.SMs {
		if !smForm().MatchString(sm) {
			return fmt.Errorf("profile %s: match.compute-capabilities: %q is none", p.Name, text.Clip(sm, 120))
		}
	}
	for _, gfx := range m.GFX {
		if !gfxForm().MatchString(gfx) {
			return fmt.Errorf("profile %s: match.gfx: %q is none", p.Name, text.Clip(gfx, 120))
		}
	}
	return nil
}

// oneLine refuses what has no place in any string of a lock: line ends, and what acts on a
// terminal or turns the direction of text.
func oneLine(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if !text.OneLine(v.String()) {
			return fmt.Errorf("%q holds a line end, a control character or a mark of direction", text.Clip(v.String(), 120))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return oneLine(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := oneLine(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := oneLine(v.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", v.Type().Field(i).Tag.Get("toml"), err)
			}
		}
	}
	return nil
}
