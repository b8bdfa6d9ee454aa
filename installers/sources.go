package installers

import (
	"fmt"
	"maps"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
)

// sources is where the installers may fetch from. It is read once from the
// facts, shown in the plan and passed to each installer explicitly; the children
// see nothing else of the user's configuration.
type sources struct {
	mirrors  plan.Mirrors
	env      map[string]string // proxies and certificates
	pipCert  string
	caches   map[string]string // directories that the user gave the installers
	offline  bool
	warnings []string
}

// Network is what of the environment a child may see to reach its index.
var Network = []string{
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"UV_PYTHON_INSTALL_MIRROR", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", // two names, old and new, of one switch: the system's certificates
}

// caches say where an installer keeps what it fetched, and uv its Pythons: a home
// with a quota, as on a cluster, has no room for them.
var caches = []string{"UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR", "PIP_CACHE_DIR", "CONDA_PKGS_DIRS"}

// What an installer bears of a bad network by itself; apply runs it again after
// that. The defaults of pip (15 s) and uv (30 s) are made for small files. More than
// 3 tries at a name that does not resolve take uv longer than anybody waits
// (0.13.9: 8 s; 5 tries 19 s).
const (
	timeout = "60" // s without a byte
	retries = "3"
)

// DefaultIndexes are variables that name the user's own default index, the strongest first.
var DefaultIndexes = []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"}

// moreIndexes would add an index to every call; they are not honoured: an
// installer that merges indexes takes the best version from whichever has it
// (the torchtriton incident of December 2022).
var moreIndexes = []string{"PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX", "PIP_FIND_LINKS", "UV_FIND_LINKS"}

func readSources(h machine.Machine, t plan.Target) sources {
	s := sources{mirrors: plan.ParseMirrors(t.Mirrors), env: map[string]string{}, offline: t.Offline, pipCert: h.Env["PIP_CERT"], caches: map[string]string{}}
	for _, name := range caches {
		if dir := h.Env[name]; strings.HasPrefix(dir, "/") && whole(dir) {
			s.caches[name] = dir
		}
	}
	for _, name := range DefaultIndexes {
		url := h.Env[name]
		if s.mirrors.Default != "" || url == "" {
			continue
		}
		bare, secret := withoutSecret(url)
		s.mirrors.Default = bare
		s.warnings = append(s.warnings, fmt.Sprintf("the default index is yours, from %s: %s", name, bare))
		if secret {
			s.warnings = append(s.warnings, fmt.Sprintf("%s holds a password, which a plan must not: put it into ~/.netrc", name))
		}
	}
	for _, name := range moreIndexes {
		if h.Env[name] != "" {
			s.warnings = append(s.warnings, name+" is not honoured: two indexes in one call let either of them replace any package")
		}
	}
	for _, name := range Network {
		if v := h.Env[name]; v != "" {
			bare, secret := withoutSecret(v)
			if secret {
				s.warnings = append(s.warnings, fmt.Sprintf("%s holds a password, which a plan must not: apply takes it from its own environment", name))
				continue
			}
			s.env[name] = bare
		}
	}
	return s
}

// withoutSecret drops user name and password from a URL, and a query that holds a
// token or did before it was read.
func withoutSecret(url string) (bare string, secret bool) {
	if path, query, ok := strings.Cut(url, "?"); ok && (text.Redact("?"+query) != "?"+query || strings.Contains(query, "***")) {
		bare, _ = withoutSecret(path)
		return bare, true
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok { // a proxy may be named so
		scheme, rest = "", url
	}
	host, path, slash := strings.Cut(rest, "/")
	at := strings.LastIndex(host, "@")
	if at < 0 {
		return url, false
	}
	bare = strings.TrimPrefix(scheme+"://", "://") + host[at+1:]
	bare += say.If(slash, "/"+path)
	return bare, true
}

// url returns the address to fetch an index from: nil is the default index, and
// "" the installer's own default.
func (s sources) url(index *string) string {
	if index == nil || *index == "" {
		return s.mirrors.Default
	}
	return s.mirrors.There(*index)
}

// A child is what an installer is given of the environment besides the base that apply
// adds (HOME, LANG, TERM and a fixed PATH).
type child struct {
	set          map[string]string // always
	patience     map[string]string // where it fetches; pip's are arguments
	caches       []string          // the user's own directories that it honours
	certificates string            // the variable that it reads a bundle from
}

// requestsBundle is what all that fetches by Python's requests, and conda, reads.
const requestsBundle = "REQUESTS_CA_BUNDLE"

// environment returns what a child is given for a call that fetches nothing.
func (s sources) environment(tool interface{ child() child }) map[string]string {
	c, env := tool.child(), maps.Clone(s.env)
	maps.Copy(env, c.set)
	for _, name := range c.caches {
		if dir := s.caches[name]; dir != "" {
			env[name] = dir
		}
	}
	return env
}

// online is environment for a call that fetches: with the user's certificates
// under the name that the tool reads, and with its patience.
func (s sources) online(tool interface{ child() child }) map[string]string {
	env := s.environment(tool)
	if s.offline {
		return env
	}
	c := tool.child()
	maps.Copy(env, c.patience)
	s.certificates(env, c.certificates)
	return env
}

// certificates sets the variable that a tool reads to the bundle that the user
// named for whichever tool.
func (s sources) certificates(env map[string]string, reads string) {
	names := []string{reads, requestsBundle, "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT"}
	if reads == requestsBundle {
		names = append([]string{"PIP_CERT"}, names...) // pip's own name, which --isolated makes it ignore
	}
	for _, name := range names {
		bundle := say.Either(name == "PIP_CERT", s.pipCert, s.env[name])
		if bundle != "" {
			env[reads] = bundle
			return
		}
	}
}
