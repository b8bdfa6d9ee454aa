package apply

import (
	"context"
	"math/rand/v2"
	"time"

	"envfix/internal/fail"
	"envfix/internal/reach"
)

// A fault is one way in which an installer fails, told from its words: all of them
// exit with 1, 2 or 100 for everything.
type fault struct {
	words []string // one of them is in the last lines of its output, in lower case
	code  int      // 0: fail.Failed
	what  string   // in our words; "" its own say it
	again int      // how often it is worth another try
	hint  string
}

// netRetries is how often a step that the network failed is tried again, where
// that may help. The installers try each request several times before that.
const netRetries = 3

const proxyHint = reach.NetworkHint

const (
	otherFile     = "a file is not the one that its index announced"
	otherFileHint = "nothing was changed; try another mirror, and tell the index's owner if it stays"
)

// faults are what pip 23 to 24, uv 0.13, conda and apt print; the first that
// fits counts. See TestNetworkFails for where the words come from.
var faults = []fault{
	{words: []string{"do not match the hashes", "hash mismatch", "hash sum mismatch", "hashes mismatch", "checksum mismatch"},
		code: fail.Integrity, again: 1, // older pips take what came of a broken connection for the file
		what: otherFile, hint: otherFileHint},
	{
		words: []string{
			"no space left on device",
			"disk quota exceeded",
			"read-only file system",
			"you don't have enough free space",
			"[errno 28]",
			"[errno 122]",
			"os error 28",
			"os error 30",
			"os error 122",
		},
		code: fail.Preflight, what: "no space is left, or the file system is read-only",
		hint: "make space, or name a place with more: `--env DIR` for the environment, XDG_CACHE_HOME for the installers' caches",
	},
	{words: []string{"could not get lock", "unable to acquire the dpkg frontend lock", "is another process using it", "system management is locked"},
		code: fail.Busy, hint: "another package manager runs; wait until it is done, then `envfix apply --resume`"},
	{words: []string{"the network was disabled"}, // uv --offline
		what: "it is not in uv's cache, and `--offline` uses no network",
		hint: "drop `--offline`, or try `--only-index default`, whose files may be there, or have `envfix lock bundle` bring the files from where there is a network"},
	{words: []string{"proxy authentication required", "proxy authorization required"},
		what: "the proxy wants a user name and a password",
		hint: "`export HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT`: envfix passes it on, and prints and stores it nowhere"},
	{words: []string{"invalid path: ", "invalid `ssl_cert_file`"}, // "Could not find a suitable TLS CA certificate bundle, invalid path: …"
		what: "the bundle of certificates that was named cannot be read",
		hint: "see where SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or PIP_CERT point"},
	{words: []string{"certificate has expired", "peer certificate: expired"},
		what: "the server's certificate has expired",
		hint: "see that this machine's clock is right (`date`)"},
	{
		words: []string{
			"certificate verify failed",
			"certificate_verify_failed",
			"invalid peer certificate",
			"self-signed certificate",
			"certificate verification failed",
		},
		what: "nobody that is trusted here vouches for the server's certificate",
		hint: "in a company: `export SSL_CERT_FILE=BUNDLE.pem` with its certificate, or `export UV_SYSTEM_CERTS=1` where the system has it",
	},
	{words: []string{"401 unauthorized", "401 client error", "403 forbidden", "403 client error"},
		what: "the index refuses to serve us",
		hint: "an index that wants a password takes it from ~/.netrc"},
	{
		words: []string{
			"failed to lookup address information",
			"name or service not known",
			"temporary failure in name resolution",
			"nodename nor servname provided",
			"no address associated with hostname",
			"could not resolve host",
			"temporary failure resolving",
			"could not resolve '",
		},
		what: "the name of the server could not be resolved",
		hint: proxyHint,
	}, // the installer asked several times
	{words: []string{"connection refused"}, what: "the server, or the proxy before it, takes no connections", hint: proxyHint},
	{words: []string{"timed out", "network timeout", "timeout was reached", "deadline has elapsed"},
		what: "the server did not answer in time", again: netRetries, hint: proxyHint},
	{words: []string{"429 too many requests", "429 client error", "too many 429 error"},
		what: "the index says that it is asked too often", again: netRetries, hint: "wait some minutes, or use a mirror: `--mirror FROM=TO`"},
	{
		words: []string{
			"http status server error",
			"500 server error",
			"502 server error",
			"503 server error",
			"504 server error",
			"too many 500 error",
			"too many 502 error",
			"too many 503 error",
			"too many 504 error",
			"503 service unavailable",
			"502 bad gateway",
			"504 gateway time",
		},
		what:  "the index is out of order",
		again: netRetries,
		hint:  "wait some minutes, or use a mirror: `--mirror FROM=TO`",
	},
	{
		words: []string{
			"connection reset",
			"connection broken",
			"connection aborted",
			"incompleteread",
			"remote end closed connection",
			"end of file before message length",
			"error decoding response body",
			"error sending request",
			"error reading a body",
			"unexpected eof",
			"unexpected-eof",
			"broken pipe",
			"network is unreachable",
			"no route to host",
			"connection closed before",
			"jsondecodeerror",
			"chunkedencodingerror",
			"connectionerror",
			"condahttperror",
			"connection error",
			"transfer closed with",
			"tunnel connection failed",
		},
		what:  "the connection broke off",
		again: netRetries,
		hint:  proxyHint,
	},
	// pip does not say why a page of the index could not be had.
	{words: []string{"(from versions: none)"},
		what: "the index showed no version at all: it is out of reach, or has none for this Python and system", again: 1, hint: proxyHint},
	{words: []string{"failed to extract archive", "badzipfile", "bad zip file", "bad crc"}, // so a full disk and a broken connection end, too
		code: fail.Integrity, what: otherFile, hint: otherFileHint},
	{
		words: []string{
			"no solution found when resolving",
			"no matching distribution found",
			"resolutionimpossible",
			"packagesnotfounderror",
			"unsatisfiableerror",
			"libmambaunsatisfiableerror",
		},
		what: "no versions of the packages go together, or one does not exist for this Python and system",
		hint: "ask for fewer packages, or for other versions of those that the lines above name",
	},
}

// again reports whether a step that failed with err is tried once more, after it
// has waited. tries is how often it was tried.
func (r *run) again(ctx context.Context, err error, tries int) bool {
	e, ours := err.(*fail.Error)
	if !ours || tries > min(e.Again, r.Retries) {
		return false
	}
	pause := backoff(tries)
	r.say("%s; try %d of %d in %v", e.Text, tries+1, min(e.Again, r.Retries)+1, pause.Round(time.Second))
	if r.Wait != nil {
		return r.Wait(ctx, pause) == nil
	}
	over, stop := context.WithTimeout(ctx, pause)
	defer stop()
	<-over.Done()
	return ctx.Err() == nil
}

// backoff is how long to wait after so many tries: 5, 15, 45 s and so on, each
// shortened by chance by up to a half, so that not all machines of a cluster come
// back at once.
func backoff(tries int) time.Duration {
	most := 5 * time.Second
	for range min(tries, 6) - 1 {
		most *= 3
	}
	return most - rand.N(most/2)
}
