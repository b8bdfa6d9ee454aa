//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A company is a network whose one way out is a proxy that reads everything, by
// certificates of its own authority: no other server and no name is to be had in it.
type company struct {
	t       *testing.T
	inside  chan func() // run by the one thread that is in that network
	proxy   string
	bundle  []byte // the authority, alone
	key     *ecdsa.PrivateKey
	root    *x509.Certificate
	made    sync.Map // by host, *tls.Certificate
	through atomic.Int64
	direct  http.Handler
}

func newCompany(t *testing.T) *company {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &company{t: t, inside: make(chan func()), key: key}
	c.root = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "The Company's own"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der := c.sign(c.root)
	c.bundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	// What is asked of the proxy has its whole address, and goes on as it is.
	c.direct = &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	listening := make(chan net.Listener)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		err := errors.Join(syscall.Unshare(syscall.CLONE_NEWNET), exec.Command("ip", "link", "set", "lo", "up").Run())
		l, err2 := net.Listen("tcp", "127.0.0.1:3128")
		if errors.Join(err, err2) != nil {
			t.Logf("no network of its own: %v", errors.Join(err, err2))
			close(listening)
			return
		}
		listening <- l
		for f := range c.inside {
			f()
		}
	}()
	l := <-listening
	if l == nil {
		t.Skip("this machine makes no network of its own (CLONE_NEWNET, `ip`)")
	}
	server := &http.Server{Handler: c}
	go server.Serve(l)
	t.Cleanup(func() { server.Close(); close(c.inside) })
	c.proxy = "http://" + l.Addr().String()
	return c
}

// do has a function run in the company's network.
func (c *company) do(f func()) {
	done := make(chan bool)
	c.inside <- func() { f(); close(done) }
	<-done
}

func (c *company) sign(leaf *x509.Certificate) []byte {
	der, err := x509.CreateCertificate(rand.Reader, leaf, c.root, &c.key.PublicKey, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	return der
}

func (c *company) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName}, NotBefore: c.root.NotBefore, NotAfter: c.root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	made, ok := c.made.Load(hello.ServerName)
	if !ok {
		made, _ = c.made.LoadOrStore(hello.ServerName, &tls.Certificate{Certificate: [][]byte{c.sign(leaf)}, PrivateKey: c.key})
	}
	return made.(*tls.Certificate), nil
}

// ServeHTTP is the proxy: it reads what goes through a way that it opens.
func (c *company) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		c.direct.ServeHTTP(w, r)
		return
	}
	there, err := net.DialTimeout("tcp", r.Host, 5*time.Second)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	c.through.Add(1)
	io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	one := &oneConn{Conn: tls.Server(here, &tls.Config{GetCertificate: c.certificate}), gone: make(chan bool)}
	http.Serve(one, http.HandlerFunc(func(w http.ResponseWriter, inner *http.Request) {
		inner.URL.Scheme, inner.URL.Host = "https", r.Host
		c.direct.ServeHTTP(w, inner)
	}))
}

// oneConn is a connection, and the listener that accepts it alone.
type oneConn struct {
	net.Conn
	taken, closed sync.Once
	gone          chan bool
}

func (o *oneConn) Accept() (c net.Conn, err error) {
	o.taken.Do(func() { c = o })
	if c == nil {
		<-o.gone
		err = net.ErrClosed
	}
	return c, err
}

func (o *oneConn) Close() error {
	o.closed.Do(func() { close(o.gone) })
	return o.Conn.Close()
}

func (o *oneConn) Addr() net.Addr { return o.LocalAddr() }
