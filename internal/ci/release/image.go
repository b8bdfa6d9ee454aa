package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"

	"envfix/internal/ci/must"
)

// image writes a container image from scratch for each Linux as one OCI archive
// (image-spec 1.1): the program and nothing else. Others copy it from there:
// COPY --from=… /envfix /usr/local/bin/.
func image(r *Release) {
	layout := &blobs{}
	var manifests []any
	for _, t := range r.Targets {
		if t.os != "linux" {
			continue
		}
		program := must.Get(os.ReadFile(r.binary(t)))
		m := r.layer(layout, t, program)
		m["platform"] = map[string]string{"os": "linux", "architecture": t.arch}
		manifests = append(manifests, m)
	}
	if len(manifests) == 0 {
		return
	}
	index := layout.json(
		"application/vnd.oci.image.index.v1+json",
		map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests},
	)
	index["annotations"] = map[string]string{"org.opencontainers.image.ref.name": r.Version.python()}
	top := must.Get(json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []any{index}}))
	entries := append([]entry{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, top}}, layout.entries...)
	b := tarball(entries, r.Time)
	r.write("envfix.oci.tar", b, 0o644)
}

// layer adds one architecture's image and returns the descriptor of its manifest.
func (r *Release) layer(layout *blobs, t target, program []byte) map[string]any {
	plain := tarball([]entry{{"envfix", 0o755, program}}, r.Time)
	packed := gzipped(plain)
	files := layout.add("application/vnd.oci.image.layer.v1.tar+gzip", packed)
	stamp := r.Time.Format("2006-01-02T15:04:05Z")
	config := layout.json("application/vnd.oci.image.config.v1+json", map[string]any{
		"created": stamp, "architecture": t.arch, "os": "linux",
		"config": map[string]any{
			"Entrypoint": []string{"/envfix"},
			"Labels": map[string]string{
				"org.opencontainers.image.version":  r.Version.python(),
				"org.opencontainers.image.revision": r.Commit,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
		"history": []any{map[string]string{"created": stamp, "created_by": "make release"}},
	})
	return layout.json(
		"application/vnd.oci.image.manifest.v1+json",
		map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": []any{files}},
	)
}

// blobs are the files of an image, each under its digest.
type blobs struct{ entries []entry }

// add keeps a file and returns its descriptor.
func (b *blobs) add(kind string, data []byte) map[string]any {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	b.entries = append(b.entries, entry{"blobs/sha256/" + sum, 0o644, data})
	return map[string]any{"mediaType": kind, "digest": "sha256:" + sum, "size": len(data)}
}

func (b *blobs) json(kind string, v any) map[string]any {
	return b.add(kind, must.Get(json.Marshal(v)))
}
