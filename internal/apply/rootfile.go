package apply

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/plan"
)

// heldRecord is where root's half writes down what envfix holds back.
const heldRecord = "/var/lib/envfix/held"

// nouveauFile keeps the kernel's own driver from the GPU.
const nouveauFile = "/etc/modprobe.d/envfix-nouveau.conf"

// Where a driver's installation names NVIDIA's repository. The file's name says which
// repository its content must be of, so that nothing of an administrator's that only
// begins alike (options of the module, another repository) is written over.
var (
	repositoryFile = lazy.Regexp(`^/etc/(?:yum\.repos\.d|zypp/repos\.d)/cuda-([a-z0-9]+)\.repo$`)
	sourceFile     = lazy.Regexp(`^/etc/apt/sources\.list\.d/cuda-(debian[0-9]{2})-(x86_64|sbsa)\.list$`)
)

// rootFile reports whether a driver's installation may write path.
func rootFile(p string) bool {
	return p == heldRecord || p == nouveauFile || repositoryFile().MatchString(p) || sourceFile().MatchString(p)
}

const cudaRepos = "https://developer.download.nvidia.com/compute/cuda/repos/"

var (
	modprobeLine = lazy.Regexp(`^(#.*|blacklist nouveau|options nouveau modeset=0)$`)
	heldLine     = lazy.Regexp(`^\*?[A-Za-z0-9][A-Za-z0-9+._:*-]*$`)
	gpgKeyName   = lazy.Regexp(`^[0-9A-F]{8}\.pub$`)
)

// rootContent says what may not stand in a file of root's, "" where all may: a line of
// modprobe.d can name a program, and a repository's file decides where code comes from
// and who signs it, so that one has to be whole as envfix writes it.
func rootContent(w *plan.Write) string {
	if w.Mode != 0o644 {
		return fmt.Sprintf("%q is for everybody to read", w.Path)
	}
	grammar := map[string]func() *regexp.Regexp{nouveauFile: modprobeLine, heldRecord: heldLine}[w.Path]
	if grammar == nil {
		if !slices.ContainsFunc(repositoryTexts(w.Path), func(text string) bool { return sameRepository(w.Content, text) }) {
			return fmt.Sprintf("%s is not what envfix writes of NVIDIA's repository", w.Path)
		}
		return ""
	}
	for line := range strings.Lines(w.Content) {
		if !grammar().MatchString(strings.TrimSuffix(line, "\n")) {
			return fmt.Sprintf("%q may not stand in %s", line, w.Path)
		}
	}
	return ""
}

// repositoryTexts are what may stand in the file of a repository, but for the line
// with a key's address.
func repositoryTexts(p string) (out []string) {
	if m := sourceFile().FindStringSubmatch(p); m != nil {
		return []string{fmt.Sprintf("deb [signed-by=%s] %s%s/%s/ /\n", plan.Keyring, cudaRepos, m[1], m[2])}
	}
	m := repositoryFile().FindStringSubmatch(p)
	if m == nil {
		return nil
	}
	for _, arch := range []string{"x86_64", "sbsa"} {
		id := "cuda-" + m[1] + "-" + arch
		out = append(out, fmt.Sprintf("[%s]\nname=%s\nbaseurl=%s%s/%s\nenabled=1\ngpgcheck=1\n", id, id, cudaRepos, m[1], arch))
	}
	return out
}

// sameRepository compares a file with what may stand in it, and admits a last line that
// names a key of that repository's own server: where its fingerprint is not known here.
func sameRepository(content, text string) bool {
	rest, ok := strings.CutPrefix(content, text)
	if !ok || rest == "" {
		return ok
	}
	_, base, repo := strings.Cut(text, "\nbaseurl=")
	base, _, _ = strings.Cut(base, "\n")
	dir, name := path.Split(strings.TrimSuffix(rest, "\n"))
	return repo && dir == "gpgkey="+base+"/" && strings.HasSuffix(rest, "\n") && gpgKeyName().MatchString(name)
}
