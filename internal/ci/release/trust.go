package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"envfix/internal/text"

	"aead.dev/minisign"

	"envfix/internal/ci/must"
)

// materials writes the bill of materials (CycloneDX 1.6): each module that is in one
// of the programs, and the Go toolchain, as the programs themselves name them.
func materials(r *Release) {
	modules := map[string]*debug.Module{}
	toolchain := ""
	for _, t := range r.Targets {
		info := must.Get(buildinfo.ReadFile(r.binary(t)))
		toolchain = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[m.Path+"@"+m.Version] = m
		}
	}
	type licence struct {
		License map[string]string `json:"license"`
	}
	type component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		PURL     string    `json:"purl,omitempty"`
		Licenses []licence `json:"licenses,omitempty"`
	}
	main := component{"application", "envfix", "envfix", r.Version.python(), "", []licence{{map[string]string{"id": "Apache-2.0"}}}}
	of := func(kind, path, version string) component {
		url := "pkg:golang/" + path + "@" + version
		return component{kind, url, path, version, url, nil}
	}
	list := []component{of("platform", "stdlib", strings.TrimPrefix(toolchain, "go"))}
	for _, m := range modules {
		list = append(list, of("library", m.Path, m.Version))
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	refs := text.Each(list, func(c component) string { return c.Ref })
	bom := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"timestamp": r.Time.Format("2006-01-02T15:04:05Z"), "component": main},
		"components":   list,
		"dependencies": []any{map[string]any{"ref": "envfix", "dependsOn": refs}},
	}
	r.writeJSON("envfix.cdx.json", bom)
}

// provenance writes what the files were made of, and by what (in-toto statement 1,
// SLSA provenance 1): every file so far with its digest.
func provenance(r *Release) {
	type subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	var subjects []subject
	for _, name := range r.files {
		subjects = append(subjects, subject{name, map[string]string{"sha256": digest(filepath.Join(r.Out, name))}})
	}
	if len(subjects) == 0 {
		must.Do(errors.New("nothing was made that it could speak of"))
	}
	goVersion := output("go", "env", "GOVERSION")
	r.writeJSON("envfix.provenance.json", map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          "make release",
				"externalParameters": map[string]any{"version": r.Version.python()},
				"internalParameters": map[string]any{"cgo": "0", "child": ziglang, "nfpm": nfpm, "libdeflate": libdeflate, "conda": rattlerBuild},
				"resolvedDependencies": []any{
					map[string]any{"name": "source", "digest": map[string]string{"gitCommit": r.Commit}},
					map[string]any{"name": "go", "annotations": map[string]string{"version": goVersion}},
				},
			},
			"runDetails": map[string]any{
				"builder":  map[string]string{"id": "internal/ci/release"},
				"metadata": map[string]string{"invocationId": r.Commit},
			},
		},
	})
}

func (r *Release) writeJSON(name string, v any) {
	b := must.Get(json.MarshalIndent(v, "", "  "))
	r.write(name, append(b, '\n'), 0o644)
}

func digest(path string) string {
	return fmt.Sprintf("%x", sha256.Sum256(must.Get(os.ReadFile(path))))
}

// sums writes SHA256SUMS of all that was made, and signs it where a key is given:
// ENVFIX_RELEASE_KEY names a secret key of minisign, ENVFIX_RELEASE_PASSWORD a file
// with its password.
func sums(r *Release) {
	slices.Sort(r.files)
	var text strings.Builder
	for _, name := range r.files {
		fmt.Fprintf(&text, "%s  %s\n", digest(filepath.Join(r.Out, name)), name)
	}
	r.write("SHA256SUMS", []byte(text.String()), 0o644)
	if r.secret == nil {
		fmt.Println("SHA256SUMS is not signed: ENVFIX_RELEASE_KEY names no key")
		return
	}
	said := "envfix " + r.Version.python()
	r.write("SHA256SUMS.minisig", minisign.SignWithComments(*r.secret, []byte(text.String()), said, said+" "+r.Commit), 0o644)
}

// readKey reads the key that the release is signed with, where one is named.
func (r *Release) readKey() {
	file := os.Getenv("ENVFIX_RELEASE_KEY")
	if file == "" {
		return
	}
	var password []byte
	if name := os.Getenv("ENVFIX_RELEASE_PASSWORD"); name != "" {
		password = must.Get(os.ReadFile(name))
	}
	key, err := readSecret(must.Get(os.ReadFile(file)), strings.TrimRight(string(password), "\r\n"))
	if err != nil {
		must.Do(fmt.Errorf("%s: %w", file, err))
	}
	public, ok := key.Public().(minisign.PublicKey)
	if !ok {
		must.Do(fmt.Errorf("%s: it has no public key", file))
	}
	r.secret, r.Key = &key, public.String()
}

func readSecret(b []byte, password string) (key minisign.PrivateKey, err error) {
	if minisign.IsEncrypted(b) {
		return minisign.DecryptKey(password, b)
	}
	err = key.UnmarshalText(b)
	return key, err
}
