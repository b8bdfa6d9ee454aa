//go:build wasm

// The program behind the web page: `make site` builds it to WebAssembly. It answers
// calls of the page's own script and reaches nothing else.
package main

import (
	"fmt"
	"syscall/js"

	"envfix/internal/page"
)

func main() {
	desk := page.NewDesk()
	// envfixCall(name, input): an answer as JSON, or an Error.
	js.Global().Set("envfixCall", js.FuncOf(func(_ js.Value, args []js.Value) (answer any) {
		defer func() { // one question must not end the program for all others
			if p := recover(); p != nil {
				answer = problem(fmt.Errorf("%s: %v", args[0].String(), p))
			}
		}()
		if len(args) != 2 {
			return problem(fmt.Errorf("envfixCall takes a name and an input"))
		}
		out, err := desk.Call(args[0].String(), args[1].String())
		if err != nil {
			return problem(err)
		}
		return out
	}))
	// envfixKnow(bytes): what the doctor knows, which only a paste needs.
	js.Global().Set("envfixKnow", js.FuncOf(func(_ js.Value, args []js.Value) any {
		blob := make([]byte, args[0].Get("byteLength").Int())
		js.CopyBytesToGo(blob, args[0])
		if err := desk.Know(string(blob)); err != nil {
			return problem(err)
		}
		return js.Null()
	}))
	if ready := js.Global().Get("envfixReady"); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {}
}

func problem(err error) js.Value { return js.Global().Get("Error").New(err.Error()) }
