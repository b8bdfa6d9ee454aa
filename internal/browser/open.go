// Package browser opens the web page at a question.
package browser

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/project"
	"envfix/internal/system"
	"envfix/internal/text"
)

// Open opens the web page at the question that p answers: what it needs to know of
// the machine stands behind the # of the address, which no browser sends anywhere. The address is
// written to w; why says why no browser has it, "" one has.
func Open(ctx context.Context, wish project.Wish, p *plan.Plan, w io.Writer) (why string, err error) {
	page, err := pageAddress()
	if err != nil {
		return "", err
	}
	page.Fragment, page.RawFragment = "", ""
	address := page.String() + "#" + fragment(wish, p)
	target := address
	if page.Scheme == "file" {
		// Openers of the desktop drop what follows the # of a file.
		if target, err = redirect(address); err != nil {
			return "", err
		}
	}
	if _, err := fmt.Fprintln(w, text.Escape(address)); err != nil {
		return "", err
	}
	return openIn(ctx, browserHere(), target), nil
}

// pageAddress is where the page is: ENVFIX_PAGE, else what was installed with the
// program.
func pageAddress() (*url.URL, error) {
	named := os.Getenv("ENVFIX_PAGE")
	if u, err := url.Parse(named); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return u, nil
	}
	file := named
	if file == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		file = filepath.Join(filepath.Dir(self), "..", "share", "envfix", "envfix.html")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, fail.Wrong("the web page is not here: "+text.Escape(file)+" is no file",
			"`make site` builds it as dist/envfix.html", "ENVFIX_PAGE names it: a file, or the https:// address where you serve dist/site")
	}
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") { // C:/…
		file = "/" + file
	}
	return &url.URL{Scheme: "file", Path: file}, nil
}

// fragment is the question in the words of the page: the machine's class and the wish,
// no name, path or id of the machine.
func fragment(w project.Wish, p *plan.Plan) string {
	h := p.Basis.Facts.Class()
	h.GPUs = p.Basis.Facts.GPUs // all of them, not two of a kind
	d := describe.Of(h)
	if d.OS == "linux" {
		d.OS = ""
	}
	q := url.Values{"gpu": d.GPUs}
	python := w.Python
	if python == "" && p.Python != "" && slices.ContainsFunc(h.Pythons, func(y machine.Python) bool { return strings.HasPrefix(y.Version+".", p.Python+".") }) {
		python = p.Python
	}
	for name, value := range map[string]string{"driver": d.Driver, "os": d.OS, "arch": d.Arch, "libc": d.Libc, "python": python, "cuda": w.CUDA,
		"build": w.Build, "manager": w.Manager, "only_index": w.OnlyIndex, "gpus": w.GPUs} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, set := range map[string]bool{"cpu": w.CPU, "jit": w.JIT} {
		if set {
			q.Set(name, "1")
		}
	}
	for _, r := range p.Basis.Request.Requirements {
		if r.URL == "" && r.Text != "" { // an address may be private
			q.Add("package", r.Text)
		}
	}
	return q.Encode()
}

// redirect writes, for this user alone, a page that leads to an address.
func redirect(address string) (string, error) {
	path := filepath.Join(system.StateDir(), "open.html")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fail.Wrap(fail.Failed, err)
	}
	text := `<!doctype html><meta charset="utf-8"><title>envfix</title><meta http-equiv="refresh" content="0; url=` + html.EscapeString(address) + `">` +
		`<a href="` + html.EscapeString(address) + `">the page</a>` + "\n"
	if err := system.Replace(path, []byte(text), 0o600); err != nil {
		return "", fail.Wrap(fail.Failed, err)
	}
	return path, nil
}

// browserHere is the command that opens an address here; nil: there is none.
func browserHere() []string {
	if b := os.Getenv("BROWSER"); b != "" {
		return []string{b}
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	for _, name := range []string{"xdg-open", "wslview"} {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}
		}
	}
	return nil
}

// openIn starts a browser and does not wait for its end, which may be hours away: only
// long enough to hear that it fails. It says why nothing was opened; "" it was.
func openIn(ctx context.Context, browser []string, target string) (why string) {
	if browser == nil {
		return "no browser can be opened from here"
	}
	c := exec.Command(browser[0], append(browser[1:], target)...)
	if err := c.Start(); err != nil {
		return text.Escape(browser[0]) + " cannot be started"
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return text.Escape(browser[0]) + " failed"
		}
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
	return ""
}
