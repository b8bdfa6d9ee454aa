package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// effect asks the machine whether a step did what the plan says: package managers
// end well with nothing, or with something else, installed too.
func (r *run) effect(ctx context.Context, s plan.Step) error {
	if e := s.Effect; e != nil {
		got, err := r.on.installed(ctx, s.Run.Argv[0], e.Package)
		if err != nil {
			return err
		}
		if got != e.Version {
			return notThere("%s %s was to be installed, and the system has %s", e.Package, e.Version, orNone(got))
		}
	}
	if s.ID != "driver" || s.Run == nil || r.Facts == nil || r.plan.Driver.Branch == nil {
		return nil
	}
	if err := r.moduleBuilt(ctx); err != nil {
		return err
	}
	return r.driverIs(ctx, false)
}

func notThere(format string, args ...any) error {
	return &fail.Error{Code: fail.Verify, Text: fmt.Sprintf(format, args...), Hints: []string{"`envfix doctor` looks for the cause"}}
}

// installed returns the version of a package that is installed whole; "" for none.
func (m host) installed(ctx context.Context, manager, name string) (string, error) {
	argv := []string{"rpm", "-q", "--queryformat", `%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`, name}
	if manager == "apt-get" {
		argv = []string{"dpkg-query", "-W", "-f", `${db:Status-Status} ${Version}\n`, name}
	}
	out, err := m.output(ctx, argv)
	var exit *system.ExitError
	if errors.As(err, &exit) { // both say so where the package is unknown
		return "", nil
	}
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(out, "\n")
	if manager == "apt-get" {
		status, v, _ := strings.Cut(line, " ")
		if status != "installed" {
			return "", nil
		}
		return v, nil
	}
	return line, nil
}

// moduleBuilt refuses an installation whose kernel module is not there for the
// kernel that runs, or is of another version: a build by DKMS that fails does not
// fail the package. Where nothing tells (no modinfo, a kernel without a directory
// of modules) it is left to the check after the reboot.
func (r *run) moduleBuilt(ctx context.Context) error {
	kernel := r.plan.Basis.Facts.Platform.Kernel
	if kernel == "" {
		return nil
	}
	if _, err := os.Stat(r.on.root + "/lib/modules/" + kernel); err != nil {
		return nil
	}
	out, err := r.on.output(ctx, []string{"modinfo", "-k", kernel, "-F", "version", "nvidia"})
	var exit *system.ExitError
	switch {
	case errors.As(err, &exit):
		return &fail.Error{Code: fail.Verify, Text: fmt.Sprintf("the driver is installed, and no kernel module of it is there for the kernel that runs (%s)", kernel),
			Hints: []string{"`dkms status` and /var/lib/dkms/nvidia/*/build/make.log say why it was not built"}}
	case err != nil:
		return nil
	}
	if want := r.plan.Driver.Version; want != nil && out != *want {
		return notThere("driver %s was to be installed, and its kernel module is %s", *want, orNone(out))
	}
	return nil
}

// driverIs compares the driver with the plan: its libraries, and where loaded
// demands it the module that the kernel runs.
func (r *run) driverIs(ctx context.Context, loaded bool) error {
	h, err := r.Facts(ctx)
	if err != nil {
		return err
	}
	want, exact := *r.plan.Driver.Branch, r.plan.Driver.Version
	if exact != nil {
		want = *exact
	}
	switch d := h.Driver; {
	case d == nil:
		return notThere("driver %s was to be installed, and none is there", want)
	case d.Version.String() != want && (exact != nil || !strings.HasPrefix(d.Version.String(), want+".")):
		return notThere("driver %s was to be installed, and %s is there", want, d.Version)
	case loaded && d.NotLoaded:
		return notThere("driver %s is installed and its kernel module is not loaded", d.Version)
	case loaded && !d.LoadedVersion.IsZero() && d.LoadedVersion.Compare(d.Version) != 0:
		return notThere("the kernel runs driver %s, and the libraries are %s", d.LoadedVersion, d.Version)
	}
	return nil
}
