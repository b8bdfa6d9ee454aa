package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// A Torch is what the bytes of one torch wheel say about it.
type Torch struct {
	File File
	Name Name
	Size int64 // as the server says

	Version string // public part of torch.__version__
	Label   string // its local part: cu132, cpu; "" where the wheel has none
	CUDA    string // torch.version.cuda: "13.2"; "" not a CUDA build

	Meta *Metadata
	Tags []string // of the WHEEL file: cp312-cp312-manylinux_2_28_x86_64

	Native, PTX []matrix.Code  // what torch.cuda.get_arch_list() will print
	Glibc       version.Dotted // what a small library of the wheel asks for, where the tags promise less than manylinux2014: a lower bound
	Gaps        []string       // what could not be read, and why
}

// Members of a torch wheel that are read, and how much of them at most.
const (
	versionMember = "torch/version.py"
	archMember    = "torch/lib/libtorch_python.so"
	maxVersion    = 64 << 10
	maxWheelFile  = 256 << 10
	maxSearch     = 256 << 20 // the arch list lies 10 to 19 MB into the member
)

// Torch reads what a torch wheel is: torch/version.py, METADATA, WHEEL and, of a
// CUDA build, the beginning of libtorch_python.so up to the list of GPUs that
// torch._C._cuda_getArchFlags() returns. That is 6 to 9 MB of a wheel of up to
// 900 MB.
func (c *Client) Torch(ctx context.Context, f File) (*Torch, error) {
	t, err := torchOf(f)
	if err != nil {
		return nil, err
	}
	w, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	t.Size = w.Size
	b, err := w.Read(ctx, versionMember, maxVersion)
	if err != nil {
		return nil, err
	}
	if err := t.readVersion(b); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := t.readDistInfo(ctx, w); err != nil {
		return nil, err
	}
	if err := t.readGlibc(ctx, w); err != nil {
		return nil, err
	}
	if t.CUDA == "" {
		return t, nil
	}
	if err := t.readArches(ctx, w); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		t.Gaps = append(t.Gaps, err.Error())
	}
	return t, nil
}

func torchOf(f File) (*Torch, error) {
	name, ok := ParseName(f.Name)
	if !ok || name.Project != "torch" {
		return nil, fmt.Errorf("%s is not a wheel of torch", f.Name)
	}
	return &Torch{File: f, Name: name}, nil
}

// TorchMetadata reads only the METADATA and WHEEL of a torch wheel: its
// ".metadata" file where the index offers one, else the end of the wheel.
func (c *Client) TorchMetadata(ctx context.Context, f File) (*Torch, error) {
	t, err := torchOf(f)
	if err != nil {
		return nil, err
	}
	if f.HasMetadata {
		m, err := c.metadataFile(ctx, f)
		if err == nil {
			t.Meta = m
			return t, t.sameVersion()
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		t.Gaps = append(t.Gaps, "the page promises a .metadata file that is not there")
	}
	w, err := c.OpenTail(ctx, f)
	if err != nil {
		return nil, err
	}
	t.Size = w.Size
	return t, t.readDistInfo(ctx, w)
}

// Metadata reads the METADATA of a wheel alone: its ".metadata" file where the index offers
// one, else the end of the wheel.
func (c *Client) Metadata(ctx context.Context, f File) (*Metadata, error) {
	if f.HasMetadata {
		if m, err := c.metadataFile(ctx, f); !errors.Is(err, ErrNotFound) {
			return m, err
		}
	}
	w, err := c.OpenTail(ctx, f)
	if err != nil {
		return nil, err
	}
	return w.metadata(ctx)
}

// metadataFile reads FILE.metadata (PEP 658), whose hash is checked where the
// page gives one.
func (c *Client) metadataFile(ctx context.Context, f File) (*Metadata, error) {
	b, _, err := c.get(ctx, f.URL+".metadata", request{limit: maxMetadata})
	if err != nil {
		return nil, fmt.Errorf("%s.metadata: %w", f.Name, err)
	}
	if f.MetadataSHA256 != "" && fmt.Sprintf("%x", sha256.Sum256(b)) != f.MetadataSHA256 {
		return nil, fmt.Errorf("%s.metadata: its sha256 is not the one on the page", f.Name)
	}
	return metadataOf(f, b)
}

// metadata reads the METADATA of a wheel.
func (w *Wheel) metadata(ctx context.Context) (*Metadata, error) {
	name, ok := w.distInfo("METADATA")
	if !ok {
		return nil, fmt.Errorf("%s: it holds no METADATA", w.File.Name)
	}
	b, err := w.Read(ctx, name, maxMetadata)
	if err != nil {
		return nil, err
	}
	return metadataOf(w.File, b)
}

func metadataOf(f File, b []byte) (*Metadata, error) {
	m, err := ParseMetadata(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return m, nil
}

func (t *Torch) readDistInfo(ctx context.Context, w *Wheel) (err error) {
	if t.Meta, err = w.metadata(ctx); err != nil {
		return err
	}
	if name, ok := w.distInfo("WHEEL"); ok {
		b, err := w.Read(ctx, name, maxWheelFile)
		if err != nil {
			return err
		}
		t.Tags = parseWheelFile(b)
	}
	return t.sameVersion()
}

// sameVersion demands that the wheel's name and its METADATA agree.
func (t *Torch) sameVersion() error {
	public, label := version.SplitLocal(t.Meta.Version)
	if machine.NormalName(t.Meta.Name) != "torch" || public != t.Name.Version || (label != t.Name.Label && label != "" && t.Name.Label != "") {
		return fmt.Errorf("%s: its METADATA says %s %s", t.File.Name, shown(t.Meta.Name), shown(t.Meta.Version))
	}
	return nil
}

// Env is the environment that the wheel's markers are asked about.
func (t *Torch) Env() pep508.Environment {
	os, arch := t.Name.Platform()
	return pep508.EnvironmentOf(os, arch, t.Name.Interpreter())
}

// manylinux2014 and newer tags are written by auditwheel, which looks.
var trusted = sync.OnceValue(func() version.Dotted { return version.MustDotted("2.17") })

// cuda: Optional[str] = '13.2'
var assignment = lazy.Regexp(`(?m)^(__version__|cuda)\b[^=\n]{0,40}= *(?:'([^'\n]*)'|"([^"\n]*)"|None) *$`)

// readVersion reads torch/version.py, which torch's build writes.
func (t *Torch) readVersion(b []byte) error {
	value := map[string]string{}
	for _, m := range assignment().FindAllSubmatch(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), -1) {
		if v := string(m[2]) + string(m[3]); v == "" || plainName(v) {
			value[string(m[1])] = v
		}
	}
	if value["__version__"] == "" {
		return fmt.Errorf("its %s names no version", versionMember)
	}
	t.Version, t.Label = version.SplitLocal(value["__version__"])
	t.CUDA = value["cuda"]
	if t.Version != t.Name.Version {
		return fmt.Errorf("its %s says version %s", versionMember, t.Version)
	}
	return nil
}

// parseWheelFile returns the tags of a WHEEL file.
func parseWheelFile(b []byte) (tags []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n") {
		if v, ok := strings.CutPrefix(line, "Tag:"); ok && len(tags) < 100 {
			if v = strings.TrimSpace(v); plainName(v) {
				tags = append(tags, v)
			}
		}
	}
	return tags
}

func (t *Torch) readArches(ctx context.Context, w *Wheel) error {
	if w.MemberSize(archMember) < 0 {
		return fmt.Errorf("%s: a CUDA build without %s", w.File.Name, archMember)
	}
	s := &soScan{}
	err := w.Stream(ctx, archMember, 1<<20, s.feed)
	if err != nil {
		return err
	}
	if s.list == "" {
		return fmt.Errorf("%s: no list of GPUs in the first %d MB of %s", w.File.Name, s.seen>>20, archMember)
	}
	t.Native, t.PTX, err = ParseArches(s.list)
	return err
}

// readGlibc looks at libgomp and libc10 where the tags cannot be trusted: the
// x86_64 wheels before torch 2.6 call themselves manylinux1 (glibc 2.5), but their
// libgomp asks for 2.17.
func (t *Torch) readGlibc(ctx context.Context, w *Wheel) error {
	const small = 2 << 20
	if tag := t.Name.Glibc(); tag.IsZero() || !tag.Less(trusted()) {
		return nil
	}
	for _, n := range w.names {
		base := path.Base(n)
		if !strings.HasPrefix(n, "torch") || !(strings.HasPrefix(base, "libgomp") || base == "libc10.so") || w.MemberSize(n) > small {
			continue
		}
		b, err := w.Read(ctx, n, small)
		if err != nil {
			return err
		}
		if v := highestGlibc(b); t.Glibc.Less(v) {
			t.Glibc = v
		}
	}
	return nil
}

var archWord = lazy.Regexp(`^(sm|compute)_(\d\d?)(\d)([af]?)$`)

// ParseArches reads a list such as "sm_75 sm_90a compute_120": cubins and PTX.
func ParseArches(list string) (native, ptx []matrix.Code, err error) {
	for word := range strings.FieldsSeq(list) {
		m := archWord().FindStringSubmatch(word)
		if m == nil {
			return nil, nil, fmt.Errorf("%q is not a GPU architecture", shown(word))
		}
		code := matrix.Code{Suffix: m[4]}
		if code.SM, err = machine.ParseSM(m[2] + "." + m[3]); err != nil {
			return nil, nil, err
		}
		if m[1] == "sm" {
			native = append(native, code)
		} else {
			ptx = append(ptx, code)
		}
	}
	return native, ptx, nil
}
