package team

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/lock"
)

// toolsFile pins the uv of a bundle, one line per file, for pip.
const toolsFile = "tools.txt"

// tools returns uv's own wheels for the profiles' machines: without uv and without
// network there would be nothing to install with. uv's wheels are for any Python.
func (t *Team) tools(ctx context.Context, u uvTool, profiles []lock.Profile, facts *fileFacts) ([]lock.Package, error) {
	var out []lock.Package
	seen := map[string]bool{}
	for _, p := range profiles {
		platform, err := lock.UVPlatform(p.Match)
		if err != nil || seen[platform] {
			continue
		}
		seen[platform] = true
		packages, err := u.packages(ctx, lock.Job{Requirements: []string{"uv"}, Python: strings.TrimSuffix(p.Python, "t"), Platform: platform})
		if err != nil {
			return nil, err
		}
		canonical(u.mirrors, packages)
		facts.said(packages)
		if err := facts.complete(ctx, packages); err != nil {
			return nil, err
		}
		out = append(out, packages...)
	}
	return out, nil
}

// toolsText pins the files for pip: one version, any of the hashes.
func toolsText(tools []lock.Package) []byte {
	uv := tools[0]
	uv.Wheels = (&lock.Packages{Packages: tools}).Files()
	return []byte((&lock.Packages{Packages: []lock.Package{uv}}).Requirements("", nil))
}

// BundledTools is the file of a bundle that pins uv, "" where it brings none.
func BundledTools(dir string) string {
	path, err := filepath.Abs(filepath.Join(dir, toolsFile))
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
