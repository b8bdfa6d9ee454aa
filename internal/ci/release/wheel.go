package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"

	"envfix/internal/ci/must"
)

// The name `envfix` is somebody else's on the index.
const distribution = "envfix_gpu"

//go:embed wheel/__init__.py wheel/__main__.py wheel/METADATA wheel/DESCRIPTION.md
var wheelFiles embed.FS

// tagsOf are the platforms of the target's wheel (PEP 425, 600, 656). The binary
// asks for no C library, so one wheel serves glibc and musl, as old as installers
// know them. Go 1.26's programs run from macOS 12 on.
func tagsOf(t target) []string {
	switch t.os {
	case "linux":
		return []string{"manylinux_2_17_" + t.machine(), "manylinux2014_" + t.machine(), "musllinux_1_1_" + t.machine()}
	case "darwin":
		return []string{"macosx_12_0_" + t.machine()}
	}
	return []string{"win_amd64"}
}

// wheels writes a wheel for each target: the binary, and the lines of Python that
// start it.
func wheels(r *Release) {
	for _, t := range r.Targets {
		b := r.wheel(t, must.Get(os.ReadFile(r.binary(t))))
		name := fmt.Sprintf("%s-%s-py3-none-%s.whl", distribution, r.Version.python(), strings.Join(tagsOf(t), "."))
		r.write(name, b, 0o644)
	}
}

func (r *Release) wheel(t target, program []byte) []byte {
	base := distribution + "-" + r.Version.python()
	info := base + ".dist-info/"
	licence := must.Get(os.ReadFile("LICENSE"))
	w := newZip(r.Time, r.squeeze)
	for _, name := range []string{"__init__.py", "__main__.py"} {
		w.add(distribution+"/"+name, 0o644, must.Get(wheelFiles.ReadFile("wheel/"+name)))
	}
	metadata := os.Expand(string(must.Get(wheelFiles.ReadFile("wheel/METADATA"))), func(string) string { return r.Version.python() }) // its only slot
	description := must.Get(wheelFiles.ReadFile("wheel/DESCRIPTION.md"))
	w.add(base+".data/scripts/"+t.program(), 0o755, program)
	w.add(info+"METADATA", 0o644, append([]byte(metadata), description...))
	w.add(info+"WHEEL", 0o644, []byte(wheelFile(t)))
	w.add(info+"entry_points.txt", 0o644, []byte("[console_scripts]\nenvfix-gpu = "+distribution+".__main__:main\n"))
	w.add(info+"licenses/LICENSE", 0o644, licence)
	record := strings.Join(w.record, "\n") + "\n" + info + "RECORD,,\n"
	w.add(info+"RECORD", 0o644, []byte(record))
	return w.close()
}

func wheelFile(t target) string {
	text := "Wheel-Version: 1.0\nGenerator: envfix-release\nRoot-Is-Purelib: false\n"
	for _, tag := range tagsOf(t) {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return text
}

// A zipFile is an archive whose bytes depend on what is put into it alone.
type zipFile struct {
	buffer  bytes.Buffer
	writer  *zip.Writer
	time    time.Time
	record  []string // a line of a wheel's RECORD for each file
	squeeze squeezer
}

func newZip(t time.Time, s squeezer) *zipFile {
	z := &zipFile{time: t, squeeze: s}
	z.writer = zip.NewWriter(&z.buffer)
	return z
}

func (z *zipFile) add(name string, mode os.FileMode, b []byte) {
	sum := sha256.Sum256(b)
	z.record = append(z.record, fmt.Sprintf("%s,sha256=%s,%d", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(b)))
	packed := z.squeeze(b)
	head := &zip.FileHeader{
		Name: name, Method: zip.Deflate, Modified: z.time,
		CRC32: crc32.ChecksumIEEE(b), CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(b)),
	}
	head.SetMode(mode)
	must.Get(must.Get(z.writer.CreateRaw(head)).Write(packed)) // it is a deflate stream already
}

func (z *zipFile) close() []byte {
	must.Do(z.writer.Close())
	return z.buffer.Bytes()
}
