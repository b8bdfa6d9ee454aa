// Package must is for the programs of those who maintain envfix: what goes wrong in one
// ends it, with one place that says so.
package must

// An end is what a fault is thrown as, so that a fault of the program itself is none.
type end struct{ error }

// Do goes on where nothing went wrong.
func Do(err error) {
	if err != nil {
		panic(end{err})
	}
}

// Get is the value of what went well.
func Get[T any](v T, err error) T {
	Do(err)
	return v
}

// Try returns what went wrong in do.
func Try(do func()) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case end:
			err = fault.error
		default:
			panic(fault)
		}
	}()
	do()
	return nil
}
