package main

import "envfix/internal/text"

// lean are the packages that are compiled without inlining: an eighth of the program's
// weight, in code that waits for the network, a disk or a person, or whose time is in
// maps and strings: of 60 runs each on a busy machine plan and explain took as long as
// before, doctor up to 8 % longer (medians 125 and 132 ms). What reads the data at every start
// (internal/compiled, internal/version …), strings and regexp stay as they are.
var lean = []string{
	"github.com/modelcontextprotocol/...",
	"github.com/google/jsonschema-go/...",
	"github.com/segmentio/...",
	"github.com/yosida95/...",
	"github.com/pelletier/...",
	"github.com/urfave/...",
	"golang.org/x/oauth2/...",
	"gopkg.in/yaml.v3",
	"archive/...",
	"compress/bzip2",
	"compress/gzip",
	"crypto/...",
	"debug/elf",
	"embed",
	"encoding/asn1",
	"encoding/base64",
	"encoding/csv",
	"encoding/gob",
	"encoding/hex",
	"encoding/pem",
	"encoding/xml",
	"go/...",
	"html/template",
	"log/...",
	"math/big",
	"mime/...",
	"net",
	"net/http/...",
	"net/netip",
	"net/textproto",
	"net/url",
	"os/exec",
	"os/signal",
	"os/user",
	"text/...",
	"vendor/...",
	"envfix/...",
}

// leanFlags are lean as go build takes them.
func leanFlags() []string {
	out := text.Each(lean, func(p string) string { return "-gcflags=" + p + "=-l" })
	for _, p := range []string{"compiled", "version", "text", "lazy", "loader", "proc"} { // of the patterns that fit, the last counts
		out = append(out, "-gcflags=envfix/internal/"+p+"=")
	}
	return out
}
