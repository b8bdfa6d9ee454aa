package main

// lean are the packages that are compiled without inlining: a tenth of the program's
// weight, in code that waits for the network, a disk or a person. What every start
// runs through (the matrix, the resolver, Go's strings and regexp) stays as it is.
var lean = []string{
	"github.com/modelcontextprotocol/...",
	"github.com/google/jsonschema-go/...",
	"github.com/segmentio/...",
	"github.com/yosida95/...",
	"github.com/pelletier/...",
	"github.com/urfave/...",
	"golang.org/x/oauth2/...",
	"gopkg.in/yaml.v3",
	"crypto/...",
	"debug/elf",
	"encoding/asn1",
	"encoding/gob",
	"encoding/pem",
	"encoding/xml",
	"go/...",
	"html/template",
	"log/slog/...",
	"math/big",
	"mime/...",
	"net",
	"net/http/...",
	"text/template/...",
	"vendor/...",
	"envfix/installers",
	"envfix/internal/apply",
	"envfix/internal/doctor",
	"envfix/internal/fleet",
	"envfix/internal/index",
	"envfix/internal/lock",
	"envfix/internal/maintain",
	"envfix/internal/mcpserver",
	"envfix/internal/observe/...",
	"envfix/internal/plan",
	"envfix/internal/probe",
	"envfix/internal/pyproject",
	"envfix/internal/system",
	"envfix/internal/team",
	"envfix/internal/ui",
	"envfix/internal/update",
}

// leanFlags are lean as go build takes them.
func leanFlags() []string {
	var out []string
	for _, p := range lean {
		out = append(out, "-gcflags="+p+"=-l")
	}
	return out
}
