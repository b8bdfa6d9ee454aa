package a

import (
	"fmt"
	"html/template"
	"net"
	"net/http"
	"os"
	"os/exec"

	"envfix/internal/text"
)

func outside(s string) {
	fmt.Println(s)          // want `fmt.Println leads past the gate`
	fmt.Fprintln(os.Stdout) // want `os.Stdout leads past the gate`
	w := os.Stderr          // want `os.Stderr leads past the gate`
	fmt.Fprintln(w)
	_, _ = http.Get(s) // want `http.Get leads past the gate`
	c := http.Client{} // want `http.Client leads past the gate`
	_, _ = c.Get(s)
	_, _ = net.Dial("tcp", s)                     // want `net.Dial leads past the gate`
	_ = template.HTML(s)                          // want `template.HTML is not escaped`
	_ = template.HTMLAttr(fmt.Sprintf("x=%q", s)) // want `template.HTMLAttr is not escaped`
}

func ExportYAML() (string, error) { return "", nil } // want `ExportYAML gives a form of another program out as a plain string`

func Script() string { return "" } // want `Script gives a form of another program out as a plain string`

func joined(q text.Quoted) string { return "rm " + q.String() } // want `text.Quoted.String leads past the gate`

func inside(n int, c *exec.Cmd) {
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	_ = template.HTML("<b>ours</b>")
	_ = template.HTMLAttr(fmt.Sprintf("x=%d", n))
}
