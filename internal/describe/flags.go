package describe

import (
	"fmt"
	"reflect"
	"strings"

	"envfix/resolver"
)

// A Flag is a word of the command line and the field that it fills.
type Flag struct {
	Name  string
	Value any // a *string, a *bool or a *[]string
}

// Fields are the fields of v that a flag fills: their tags name it. Commands read and print
// their flags by them, so that none is forgotten.
func Fields[T any](v *T) (out []Flag) {
	fields := reflect.ValueOf(v).Elem()
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Tag.Get("flag"); name != "" {
			out = append(out, Flag{name, fields.Field(i).Addr().Interface()})
		}
	}
	return out
}

// Args are the arguments that say the same as v on the command line.
func Args[T any](v T) (out []string) {
	for _, f := range Fields(&v) {
		switch field := f.Value.(type) {
		case *bool:
			if *field {
				out = append(out, "--"+f.Name)
			}
		case *string:
			if *field != "" {
				out = append(out, "--"+f.Name, *field)
			}
		case *[]string:
			for _, value := range *field {
				out = append(out, "--"+f.Name, value)
			}
		}
	}
	return out
}

// Args are the flags that say the same on the command line.
func (d Machine) Args() []string { return Args(d) }

// Args are the flags that say the same on the command line.
func (w Request) Args() []string { return Args(w) }

// Words are the words that [Request.Parse] reads as r.
func Words(r resolver.Request) Request {
	return Request{Python: r.Python, CUDA: r.CUDA, Build: r.Build, Manager: r.Manager, OnlyIndex: r.OnlyIndex, Channel: r.Channel,
		GPUs: strings.Trim(strings.ReplaceAll(fmt.Sprint(r.GPUs), " ", ","), "[]"), AllowURL: r.AllowURL, AsNamed: r.AsNamed, Relax: r.Relax,
		CPU: r.CPU, JIT: r.JIT, ChangeDriver: r.ChangeDriver}
}
