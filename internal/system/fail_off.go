//go:build !failpoints

package system

// Point is where a fault can be injected; see fail_on.go. It does nothing in a
// normal build.
func Point(string) error { return nil }

// HasPoints reports whether faults can be injected: in the build with the tag failpoints.
const HasPoints = false
