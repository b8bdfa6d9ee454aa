package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReleaseTrust: the sums are of what is there, the bill of materials is of the
// strict schema, and everything but the two lists of digests is in them.
func TestReleaseTrust(t *testing.T) {
	c := command{argv: []string{"sha256sum", "--quiet", "-c", "SHA256SUMS"}, dir: dist(t)}
	if _, err := c.output(); err != nil {
		t.Error(err)
	}
	ran(t, nil, toolsDir(t)+"/python", "-c", `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(wrong) if wrong else 0)`, made(t, "envfix.cdx.json"))
	provenance, err := os.ReadFile(made(t, "envfix.provenance.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.whl", "conda/*/*.conda", "*.deb", "*.rpm", "*.tar.gz", "*.zip", "envfix.oci.tar", "install.sh"} {
		found, err := filepath.Glob(filepath.Join(dist(t), pattern))
		if err != nil || len(found) == 0 {
			t.Errorf("no %s was made (%v)", pattern, err)
		}
		for _, f := range found {
			if !strings.Contains(string(provenance), filepath.Base(f)+`"`) {
				t.Errorf("the provenance does not name %s", filepath.Base(f))
			}
		}
	}
}

// TestReleaseImage reads the image with skopeo and runs its program in an empty root.
func TestReleaseImage(t *testing.T) {
	archive := made(t, "envfix.oci.tar")
	for _, tool := range []string{"skopeo", "umoci"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		if out := ran(t, nil, "skopeo", "inspect", "--override-arch", arch, "--config", "oci-archive:"+archive); !strings.Contains(out, `"architecture": "`+arch+`"`) {
			t.Errorf("the image for %s says:\n%s", arch, out)
		}
	}
	dir := t.TempDir()
	began := time.Now()
	ran(t, nil, "skopeo", "copy", "--quiet", "oci-archive:"+archive, "oci:"+dir+"/oci:x")
	ran(t, nil, "umoci", "unpack", "--image", dir+"/oci:x", dir+"/bundle")
	row(t, archive, "unpacked by skopeo and umoci", began)
	plans(t, nil, "chroot", dir+"/bundle/rootfs", "/envfix")
}

// TestReleaseConda makes a channel of the packages on disk, solves it for each
// platform, installs the one for this machine and runs it.
func TestReleaseConda(t *testing.T) {
	bin, channel, prefix := toolsDir(t), t.TempDir(), t.TempDir()+"/prefix"
	ran(t, nil, "cp", "-r", filepath.Join(dist(t), "conda")+"/.", channel)
	began := time.Now()
	ran(t, nil, bin+"/python", "-c", `import asyncio, pathlib, sys
import rattler
from rattler.index import index_fs
channel, prefix = pathlib.Path(sys.argv[1]), sys.argv[2]
async def main():
    platforms = sorted(p.name for p in channel.iterdir())
    (channel / "noarch").mkdir(exist_ok=True)
    await index_fs(channel)
    for platform in platforms:
        found = await rattler.solve([rattler.Channel(channel.as_uri())], ["envfix"], platforms=[platform, "noarch"])
        assert [r.name.normalized for r in found] == ["envfix"] and found[0].subdir == platform, (platform, found)
        if platform == "linux-64":
            await rattler.install(found, prefix, cache_dir=prefix + "-cache", show_progress=False)
asyncio.run(main())`, channel, prefix)
	row(t, made(t, "conda/linux-64/*.conda"), "a channel on disk, solved for each platform, installed by rattler", began)
	plans(t, nil, prefix+"/bin/envfix")
}

// TestReleaseSarif: what doctor prints for code scanning is of the official schema,
// for a paste, for a healthy one and for this machine.
func TestReleaseSarif(t *testing.T) {
	wheel, bin, dir := linuxWheel(t), toolsDir(t), t.TempDir()
	ran(t, nil, "unzip", "-q", wheel, "-d", dir)
	program, err := filepath.Glob(dir + "/*.data/scripts/envfix")
	if err != nil || len(program) != 1 {
		t.Fatalf("%s holds %d programs (%v)", wheel, len(program), err)
	}
	ran(t, nil, "chmod", "+x", program[0])
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(ran(t, []string{"GOFLAGS="}, "go", "mod", "download", "-json", goSarif)), &module); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(module.Dir, "pkg/report/v210/sarif/schema.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(source), "`")
	schema, _, ok := strings.Cut(schema, "`")
	if !ok || os.WriteFile(dir+"/schema.json", []byte(schema), 0o644) != nil {
		t.Fatalf("%s holds no schema", goSarif)
	}
	paste := "RuntimeError: CUDA error: no kernel image is available for execution on the device\ntorch 2.15.0+cu130\nTesla V100\n"
	if err := os.WriteFile(dir+"/a job.log", []byte(paste), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{{"--from", "a job.log"}, {"--from", "schema.json"}, {}} {
		c := exec.Command(program[0], append([]string{"doctor", "--sarif"}, args...)...)
		c.Dir = dir
		out, _ := c.Output() // what is wrong ends it with 1
		name := fmt.Sprintf("%s/%d.sarif", dir, i)
		if err := os.WriteFile(name, out, 0o644); err != nil {
			t.Fatal(err)
		}
		ran(t, nil, bin+"/check-jsonschema", "--schemafile", dir+"/schema.json", name)
	}
}

// TestReleaseWorkflows: the workflows, and one that uses action.yml, are as GitHub
// reads them; one that names an input that is not there is not.
func TestReleaseWorkflows(t *testing.T) {
	dist(t)
	root := t.TempDir()
	for _, name := range []string{".git", ".github/workflows"} {
		ran(t, nil, "mkdir", "-p", filepath.Join(root, name))
	}
	ran(t, nil, "sh", "-c", `cp ../../../action.yml "$1" && cp ../../../.github/workflows/*.yml "$1/.github/workflows"`, "sh", root)
	uses := filepath.Join(root, ".github/workflows/uses.yml")
	lint := command{argv: []string{"go", "run", actionlint}, env: []string{"GOFLAGS=-mod=mod"}, dir: root}
	for input, good := range map[string]bool{"command": true, "comand": false} {
		text := "on: push\njobs:\n  x:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - uses: ./\n        with:\n          " + input + ": plan\n"
		if err := os.WriteFile(uses, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := lint.output(); (err == nil) != good {
			t.Errorf("actionlint on an input %q: %v", input, err)
		}
	}
	ran(t, nil, toolsDir(t)+"/check-jsonschema", "--builtin-schema", "vendor.github-actions", "../../../action.yml")
}
