package testindex

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ServeTLS is [Serve] with a certificate of an authority that nobody trusts who
// was not given bundle, a PEM file.
func ServeTLS(t testing.TB, wheels ...Wheel) (x *Index, bundle string) {
	t.Helper()
	x = &Index{wheels: map[string][]Wheel{}, faults: map[string][]Fault{}, times: map[string]int{}}
	x.Add(wheels...)
	s := httptest.NewUnstartedServer(http.HandlerFunc(x.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a client that does not trust us is what a test wants
	authority, own, err := certificates()
	if err != nil {
		t.Fatal(err)
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	s.StartTLS()
	t.Cleanup(x.start(s))
	bundle = filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(bundle, authority, 0o644); err != nil {
		t.Fatal(err)
	}
	return x, bundle
}

// certificates makes an authority, as PEM, and a certificate for 127.0.0.1 that it
// signed.
func certificates() (authority []byte, own tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, own, err
	}
	from, to := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotBefore: from, NotAfter: to,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	if err != nil {
		return nil, own, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, key)
	if err != nil {
		return nil, own, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
	return authority, tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key}, nil
}

// A Proxy is an HTTP proxy on loopback.
type Proxy struct {
	Host string // 127.0.0.1:…

	mu       sync.Mutex
	password string // "" none is wanted
	seen     []string
}

// ServeProxy starts a proxy that wants the user "me" and this password; "" lets
// everybody through.
func ServeProxy(t testing.TB, password string) *Proxy {
	t.Helper()
	p := &Proxy{password: password}
	s := httptest.NewServer(p)
	p.Host = strings.TrimPrefix(s.URL, "http://")
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return p
}

// Seen returns the addresses that were asked for with leave.
func (p *Proxy) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// ServeHTTP answers, or passes on, one request, and notes it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	as := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	if user, password, ok := as.BasicAuth(); p.password != "" && (!ok || user != "me" || password != p.password) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
		return
	}
	p.mu.Lock()
	p.seen = append(p.seen, r.URL.String())
	p.mu.Unlock()
	if r.Method == http.MethodConnect {
		tunnel(w, r.Host)
		return
	}
	(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}).ServeHTTP(w, r)
}

// tunnel joins the client with host, both ways, until either ends.
func tunnel(w http.ResponseWriter, host string) {
	there, err := net.Dial("tcp", host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan bool, 2)
	join := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // either side going away is the end
		ended <- true
	}
	go join(there, here)
	go join(here, there)
	<-ended
}
