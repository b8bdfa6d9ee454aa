//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "envfix-page is a program for a web page: `make site` builds it for js/wasm")
	os.Exit(2)
}
