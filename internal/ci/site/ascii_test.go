package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What is written into the one file is what load.js reads: of every length, and of bytes
// that make the last characters large and small.
func TestASCII(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is here to run load.js")
	}
	source, err := os.ReadFile("../../page/web/load.js")
	if err != nil {
		t.Fatal(err)
	}
	reads := regexp.MustCompile(`(?s)const bytes = .*?\n  };\n`).Find(source)
	if reads == nil {
		t.Fatal("load.js has no function bytes")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var script, want strings.Builder
	script.Write(reads)
	for length := range 64 {
		for range 50 {
			content := make([]byte, length)
			for i := range content {
				content[i] = []byte{0, 255, byte(r.Uint32())}[r.IntN(3)]
			}
			text := ascii(content)
			if strings.ContainsAny(text, "<\n") {
				t.Fatalf("%q could end a block", text)
			}
			fmt.Fprintf(&script, "console.log(Buffer.from(bytes(%q)).toString('hex'));\n", text)
			fmt.Fprintf(&want, "%x\n", content)
		}
	}
	cmd := exec.Command(node, "-")
	cmd.Stdin = strings.NewReader(script.String())
	got, err := cmd.Output()
	if err != nil || !bytes.Equal(got, []byte(want.String())) {
		t.Errorf("read otherwise: %v\n%.400s\nwant\n%.400s", err, got, want.String())
	}
}
