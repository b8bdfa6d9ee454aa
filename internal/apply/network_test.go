//go:build linux

package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/reach"
	"envfix/internal/system"
	"envfix/internal/testindex"
)

// with is real with a change of the call that installs.
func (b *bench) with(tool string, x *testindex.Index, change func(*plan.Run)) *plan.Plan {
	b.Helper()
	p := b.real(tool, x, "torch==2.14.1")
	if p.Steps[1].Run.Env == nil {
		p.Steps[1].Run.Env = map[string]string{}
	}
	change(p.Steps[1].Run)
	return reseal(b.T, p)
}

// set gives the call that installs variables, name by name and value by value.
func set(vars ...string) func(*plan.Run) {
	return func(r *plan.Run) {
		for i := 0; i < len(vars); i += 2 {
			r.Env[vars[i]] = vars[i+1]
		}
	}
}

// long is where every case is tried with pip as well, whose every call takes a
// second of a processor; else TestInstallersWords has its words.
var long = os.Getenv("ENVFIX_LONG") != ""

// What passes is waited for, said, and tried again, and in the end all is well.
func TestNetworkPasses(t *testing.T) {
	page, wheel := "/simple/torch/", "/files/"+testindex.Torch("2.14.1+cu126", "").Filename()
	for _, tt := range []struct {
		name, path string
		fault      testindex.Fault
		times, try int    // requests that fail; tries that it takes
		pip, uv    string // what is said
	}{
		{"503 twice", page, testindex.Unavailable, 2, 3, "", "out of order; try 2 of 4"},
		{"503, as pip sees it", page, testindex.Unavailable, 1, 2, "showed no version at all: it is out of reach, or has none for this Python and system; try 2 of 2", ""},
		{"reset in the middle of a wheel", wheel, testindex.Reset, 1, 2, "broke off; try 2 of 4", ""},
		{"reset in the middle of a wheel", wheel, testindex.Reset, 2, 2, "", "broke off; try 2 of 4"}, // uv asks twice, in two ways
		{"a wheel cut off", wheel, testindex.Truncate, 1, 2, "not the one that its index announced; try 2 of 2", ""},
		{"a wheel cut off", wheel, testindex.Truncate, 2, 2, "", "broke off; try 2 of 4"},
		{"a wheel stalls", wheel, testindex.Stall, 1, 2, "", "did not answer in time; try 2 of 4"},
	} {
		for tool, said := range map[string]string{"pip": tt.pip, "uv": tt.uv} {
			if said == "" || tool == "pip" && !long && tt.fault != testindex.Reset {
				continue
			}
			t.Run(tt.name+"/"+tool, func(t *testing.T) {
				b, x := newBench(t), torchIndex(t)
				b.how.Retries = 3
				if tt.fault == testindex.Stall {
					b.waits = "1"
				}
				x.BreakTimes(tt.path, tt.times, tt.fault)
				b.mustApply(b.real(tool, x, "torch==2.14.1"))
				if got := b.torch(); got != "2.14.1+cu126" {
					t.Errorf("torch: got %q", got)
				}
				if !strings.Contains(b.out.String(), said) {
					t.Errorf("the output lacks %q:\n%s", said, b.out.String())
				}
				if n := strings.Count(b.lastLog("torch"), "\n$ ") + 1; n != tt.try {
					t.Errorf("the log tells of %d tries, want %d\n%s", n, tt.try, b.lastLog("torch"))
				}
			})
		}
	}
}

// lastLog is the log of a step of the last apply.
func (b *bench) lastLog(step string) string {
	b.Helper()
	names, err := filepath.Glob(b.dir + "/.envfix/logs/*-" + step + ".log")
	if err != nil || len(names) != 1 {
		b.Fatalf("logs of %s: %v, %v", step, names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// What does not pass ends with its reason and what to do: at once, where waiting
// is of no use, else after as many tries as were allowed.
func TestNetworkFails(t *testing.T) {
	plain := torchIndex(t)
	safe, _ := testindex.ServeTLS(t, testindex.Torch("2.14.1+cu126", "12.6", "sm_75", "sm_80"))
	proxy := testindex.ServeProxy(t, "s3cret-canary")
	page := "/simple/torch/"
	down := torchIndex(t)
	down.Break(page, testindex.Unavailable)
	stuck := torchIndex(t)
	stuck.Break(page, testindex.Stall)
	through := func(who string) func(*plan.Run) {
		return set("HTTP_PROXY", "http://"+who+proxy.Host, "HTTPS_PROXY", "http://"+who+proxy.Host)
	}
	for _, tt := range []struct {
		name   string
		index  *testindex.Index
		change func(*plan.Run)
		tools  []string
		tries  int
		what   string // in the error
		hint   string
	}{
		{"offline", plain, func(r *plan.Run) { r.Argv, r.Env["UV_CACHE_DIR"] = append(r.Argv, "--offline"), t.TempDir() }, []string{"uv"}, 1, "not in uv's cache", "lock bundle"},
		{"503 for ever", down, set(), []string{"uv"}, 2, "the index is out of order, 2 times", "--mirror"},
		{"a proxy that wants a password", safe, through(""), tools, 1, "the proxy wants a user name and a password", "HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT"},
		{"the wrong password", plain, through("me:wr0ng-canary@"), []string{"uv"}, 1, "the proxy wants a user name and a password", "USER:PASSWORD"},
		{"an unknown authority", safe, set(), tools, 1, "nobody that is trusted here vouches", "SSL_CERT_FILE"},
		{"a bundle that is not there", safe, set("SSL_CERT_FILE", "/nonexistent", "REQUESTS_CA_BUNDLE", "/nonexistent"), tools, 1, "bundle of certificates that was named cannot be read", "PIP_CERT"},
		{"a server that stalls for ever", stuck, set("UV_HTTP_TIMEOUT", "3600"), []string{"uv"}, 2, "uv made no progress for 1s and was ended, 2 times", "--stall"},
	} {
		for _, tool := range tt.tools {
			if tool == "pip" && !long {
				continue
			}
			t.Run(tt.name+"/"+tool, func(t *testing.T) {
				b := newBench(t)
				b.how.Retries = 1
				if strings.Contains(tt.name, "stalls") {
					b.how.Stall = time.Second
				}
				_, err := b.apply(context.Background(), b.with(tool, tt.index, func(r *plan.Run) {
					if i := slices.Index(r.Argv, "--retries"); i > 0 {
						r.Argv[i+1] = "1" // pip is silent about what it does not try again itself
					}
					tt.change(r)
				}))
				if err == nil {
					t.Fatalf("it worked:\n%s", b.out.String())
				}
				b.wantKind(err, fail.Failed)
				var e *fail.Error
				errors.As(err, &e)
				hints := strings.Join(e.Hints, "\n")
				if !strings.Contains(e.Text, tt.what) || !strings.Contains(hints, tt.hint) {
					t.Errorf("%s\n%s\nwant %q and %q\n%s", e.Text, hints, tt.what, tt.hint, b.lastLog("torch"))
				}
				text := b.lastLog("torch")
				if n := strings.Count(text, "\n$ ") + 1; n != tt.tries {
					t.Errorf("%d tries, want %d", n, tt.tries)
				}
				if all := text + b.out.String() + fmt.Sprint(e); strings.Contains(all, "canary") {
					t.Errorf("a password is told:\n%s", all)
				}
			})
		}
	}
}

// An index that nobody answers for is found out before anything is begun, and
// whoever has another is told which one it was.
func TestUnreachable(t *testing.T) {
	index := torchIndex(t)
	for _, tt := range []struct{ name, url, what string }{
		{"nobody listens", "http://127.0.0.1:1/simple", "127.0.0.1:1 cannot be reached: the server takes no connections"},
		{"no such name", "https://index.invalid/simple", "index.invalid cannot be reached: the name of the server could not be resolved"},
	} {
		for _, tool := range tools {
			b := newBench(t)
			_, err := b.apply(context.Background(), b.with(tool, index, func(r *plan.Run) {
				r.Argv[slices.IndexFunc(r.Argv, func(a string) bool { return strings.HasPrefix(a, "http") })] = tt.url
			}))
			b.wantKind(err, fail.Failed)
			var e *fail.Error
			var away *reach.Error
			if !errors.As(err, &e) || !errors.As(err, &away) || !strings.Contains(e.Text, tt.what) || away.Index != tt.url || !strings.Contains(strings.Join(e.Hints, " "), "HTTPS_PROXY") {
				t.Errorf("%s, %s: %q, %v", tt.name, tool, e.Text, e.Hints)
			}
			if logs, _ := filepath.Glob(b.dir + "/.envfix/logs/*"); len(logs) > 0 {
				t.Errorf("%s, %s: begun: %v", tt.name, tool, logs)
			}
		}
	}
}

// A company's network: an authority of its own, a proxy with a password, hosts that
// are not behind it.
func TestNetworkOfACompany(t *testing.T) {
	safe, bundle := testindex.ServeTLS(t, testindex.Torch("2.14.1+cu126", "12.6", "sm_75", "sm_80"))
	for _, tool := range tools {
		if tool == "pip" && !long {
			continue
		}
		t.Run(tool, func(t *testing.T) {
			b, proxy := newBench(t), testindex.ServeProxy(t, "s3cret-canary")
			// Of our own environment, as where the plan must not hold the password.
			t.Setenv("HTTPS_PROXY", "http://me:s3cret-canary@"+proxy.Host)
			t.Setenv("NO_PROXY", "")
			p := b.with(tool, safe, set("SSL_CERT_FILE", bundle, "REQUESTS_CA_BUNDLE", bundle))
			b.mustApply(p)
			if got := b.torch(); got != "2.14.1+cu126" || len(proxy.Seen()) == 0 {
				t.Errorf("torch %q, the proxy saw %q", got, proxy.Seen())
			}
			if text := b.lastLog("torch") + b.out.String(); strings.Contains(text, "canary") {
				t.Errorf("a password is told:\n%s", text)
			}
			t.Setenv("NO_PROXY", "127.0.0.1")
			seen := len(proxy.Seen())
			b = newBench(t)
			b.mustApply(b.with(tool, safe, set("SSL_CERT_FILE", bundle, "REQUESTS_CA_BUNDLE", bundle)))
			if len(proxy.Seen()) != seen {
				t.Errorf("the proxy was asked for a host that is not behind it: %q", proxy.Seen()[seen:])
			}
		})
	}
}

// What uv has in its cache it installs without asking anybody.
func TestOffline(t *testing.T) {
	b, x := newBench(t), torchIndex(t)
	cache := t.TempDir()
	offline := func(r *plan.Run) { r.Argv = slices.Insert(r.Argv, 1, "--offline") }
	both := func(r *plan.Run) { r.Env["UV_CACHE_DIR"] = cache; offline(r) }
	_, err := b.apply(context.Background(), b.with("uv", x, both))
	b.wantKind(err, fail.Failed)
	if asked := x.Requests(); len(asked) > 0 {
		t.Errorf("offline, it asked for %q", asked)
	}
	b.mustApply(b.with("uv", x, set("UV_CACHE_DIR", cache)))
	n := len(x.Requests())
	b = newBench(t)
	b.mustApply(b.with("uv", x, both))
	if got := b.torch(); got != "2.14.1+cu126" || len(x.Requests()) != n {
		t.Errorf("torch %q; offline, it asked for %q", got, x.Requests()[n:])
	}
}

// The words are those that the programs really printed: pip 23.2 and uv 0.13 in
// TestNetworkFails (all of them with ENVFIX_LONG); conda's and apt's as people post them.
func TestInstallersWords(t *testing.T) {
	for tail, want := range map[string]struct {
		kind  int
		again int
		what  string
	}{
		"WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f06>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/torch/\nERROR: No matching distribution found for torch==2.14.1": {fail.Failed, 0, "could not be resolved"},
		"WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required'))': /simple/torch/":                                                                                                                                                                    {fail.Failed, 0, "the proxy wants"},
		"  cause: tunnel error: proxy authorization required": {fail.Failed, 0, "the proxy wants"},
		"ERROR: Could not find a version that satisfies the requirement torch==2.14.1 (from versions: none)\nERROR: No matching distribution found for torch==2.14.1":                                                                        {fail.Failed, 1, "no version at all"},
		"ERROR: Could not find a version that satisfies the requirement torch==9.9 (from versions: 2.14.0, 2.14.1)\nERROR: No matching distribution found for torch==9.9":                                                                    {fail.Failed, 0, "go together"},
		"error: No solution found when resolving dependencies\n  cause: Because there is no version of torch==9.9 and you require torch==9.9, we can conclude that your requirements are unsatisfiable.":                                     {fail.Failed, 0, "go together"},
		"(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (_ssl.c:1006)')))":                                                        {fail.Failed, 0, "vouches"},
		"(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)')))":                                                                             {fail.Failed, 0, "has expired"},
		"ERROR: Could not install packages due to an OSError: Could not find a suitable TLS CA certificate bundle, invalid path: /nonexistent":                                                                                               {fail.Failed, 0, "bundle"},
		"pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPConnectionPool(host='127.0.0.1', port=33545): Read timed out.":                                                                                                                 {fail.Failed, 3, "in time"},
		"error: Failed to download `torch`\n  cause: Failed to extract archive: torch.whl\n  cause: I/O operation failed during extraction\n  cause: Failed to download distribution due to network timeout. Try increasing UV_HTTP_TIMEOUT": {fail.Failed, 3, "in time"},
		"error: Failed to download `torch`\n  cause: Failed to extract archive: torch.whl\n  cause: ZIP file uses conflicting paths":                                                                                                         {fail.Integrity, 0, "announced"},
		"  cause: Hash mismatch for `torch==2.14.1+cu126`":                                                                                                                                    {fail.Integrity, 1, "announced"},
		"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have":                                                                                               {fail.Integrity, 1, "announced"},
		"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device":                                                                                             {fail.Preflight, 0, "no space"},
		"  cause: failed to copy file: Disk quota exceeded (os error 122)":                                                                                                                    {fail.Preflight, 0, "no space"},
		"json.decoder.JSONDecodeError: Unterminated string starting at: line 1 column 136 (char 135)":                                                                                         {fail.Failed, 3, "broke off"},
		"pip._vendor.urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(12345 bytes read, 800000 more expected)', IncompleteRead(12345 bytes read, 800000 more expected))": {fail.Failed, 3, "broke off"},
		"  cause: HTTP status client error (404 Not Found) for url (http://127.0.0.1:44687/files/torch.whl)":                                                                                  {fail.Failed, 0, "status 1"},
		"  cause: HTTP status client error (403 Forbidden) for url (https://127.0.0.1/simple/torch/)":                                                                                         {fail.Failed, 0, "refuses to serve"},
		"CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.example/noarch/repodata.json>":                                                                                     {fail.Failed, 3, "broke off"},
		"error: Failed to unzip wheel: rich-15.0.0-py3-none-any.whl\n  cause: a computed CRC32 value did not match the expected value":                                                        {fail.Integrity, 0, "not the one that its index announced"},
		"error: Received some unexpected JSON from `https://index.example/simple/humanize/`\n  cause: EOF while parsing a string at line 1 column 21866":                                      {fail.Failed, 3, "cut off"},
		"error: No solution found when resolving dependencies\n  cause: Because there are no versions of humanize and you require humanize":                                                   {fail.Failed, 0, "lists no version that fits"},
		"error: No solution found when resolving dependencies\n  hint: The structure of `rich` (v15.0.0) was invalid:\n    Failed to read from zip file":                                      {fail.Integrity, 0, "not the one that its index announced"},
		"E: Failed to fetch http://deb.example/x.deb  Temporary failure resolving 'deb.example'":                                                                                              {fail.Failed, 0, "could not be resolved"},
		"Reading state information...\nE: Unable to locate package python3\nE: Unable to locate package python3-venv":                                                                         {fail.Failed, 0, "could not be fetched"},
		"E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 42 (apt)":                                                                                                   {fail.Busy, 0, "status 1"},
		"Segmentation fault": {fail.Failed, 0, "status 1"},
	} {
		e := fromInstaller("install torch", &system.ExitError{Argv: []string{"uv"}, Code: 1, Tail: strings.Split(tail, "\n")}, "/log")
		if e.Code != want.kind || e.Again != want.again || !strings.Contains(e.Text, want.what) {
			t.Errorf("%s\n  kind %d, %d more tries, %q; want %d, %d, %q", tail, e.Code, e.Again, e.Text, want.kind, want.again, want.what)
		}
		if n := len(e.Hints); n < 2 || e.Hints[n-1] != "its whole output is in /log" {
			t.Errorf("%s\n  hints %q: want what to do and where the log is", tail, e.Hints)
		}
	}
	for _, by := range []string{"killed", "segmentation fault", "illegal instruction"} {
		e := fromInstaller("install torch", &system.ExitError{Argv: []string{"uv"}, Code: -1, By: by, Tail: []string{"Read timed out."}}, "/log")
		if e.Again != 0 || len(e.Hints) != 2 || !strings.Contains(e.Text, "uv was ended by "+by) {
			t.Errorf("%s: %q, %q, %d more tries", by, e.Text, e.Hints, e.Again)
		}
	}
}

// The pauses grow, differ, and never exceed what they are said to be.
func TestBackoff(t *testing.T) {
	for tries, most := range map[int]time.Duration{1: 5 * time.Second, 2: 15 * time.Second, 3: 45 * time.Second, 99: 1215 * time.Second} {
		seen := map[time.Duration]bool{}
		for range 100 {
			d := backoff(tries)
			if d <= most/2 || d > most {
				t.Errorf("after %d tries: %v, want up to %v", tries, d, most)
			}
			seen[d] = true
		}
		if len(seen) < 50 {
			t.Errorf("after %d tries all come back at once: %v", tries, seen)
		}
	}
}

// A step for root that only fetches is tried again as well; one that installs is not.
func TestRootFetchesAgain(t *testing.T) {
	for _, tt := range []struct {
		argv  []string
		tries int
		ok    bool
	}{
		{[]string{"apt-get", "update"}, 3, true},
		{[]string{"apt-get", "install", "-y", "--download-only", "nvidia-driver-580=580.95.05-0ubuntu1"}, 3, true},
		{[]string{"apt-get", "install", "-y", "nvidia-driver-580=580.95.05-0ubuntu1"}, 1, false},
	} {
		b, tries := newBench(t), 0
		p := b.plan("2.14.1+cu126")
		r := &run{env: b.open(), plan: p, screen: &screen{out: &b.out}, gen: Generation{ID: "g"}, Options: Options{
			Retries: netRetries, Wait: func(context.Context, time.Duration) error { return nil },
			Root: func(context.Context, plan.Step, io.Writer, *system.Log) error {
				if tries++; tries < 3 {
					return &system.ExitError{Argv: tt.argv, Code: 100, Tail: []string{"E: Failed to fetch http://deb.example/x.deb  Connection timed out"}}
				}
				return nil
			}}}
		if err := r.env.prepare(); err != nil {
			t.Fatal(err)
		}
		p.Steps[0] = plan.Step{ID: "driver-download", Title: "fetch the driver", Root: true, Run: &plan.Run{Argv: tt.argv}}
		err := r.asRoot(context.Background(), 0)
		if (err == nil) != tt.ok || tries != tt.tries {
			t.Errorf("%q: %d tries, %v; want %d", tt.argv, tries, err, tt.tries)
		}
	}
}
