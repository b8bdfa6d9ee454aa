//go:build nvmlchild

// Package carried holds the program cmd/envfix-nvml inside a static build. A release
// puts it in place by an overlay of the build; in the tree there is none.
package carried

import _ "embed"

// Program is an executable for Linux with glibc, of this build's architecture.
//
//go:embed envfix-nvml
var Program string
