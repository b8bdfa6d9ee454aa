package reach

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestIndex(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"} {
		t.Setenv(name, "")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := "http://" + l.Addr().String() + "/simple"
	if e := Index(context.Background(), open); e != nil {
		t.Errorf("%s: %v", open, e)
	}
	l.Close()
	e := Index(context.Background(), open)
	if e == nil || !strings.HasSuffix(e.Text, "cannot be reached: the server takes no connections") || !errors.Is(e, syscall.ECONNREFUSED) || e.Index != open {
		t.Errorf("a closed port: %+v", e)
	}
	e = Index(context.Background(), "https://no.such.invalid/whl")
	if e == nil || !strings.HasPrefix(e.Text, "no.such.invalid cannot be reached: ") || e.Hint != NetworkHint {
		t.Errorf("a name that nobody has: %+v", e)
	}
}
