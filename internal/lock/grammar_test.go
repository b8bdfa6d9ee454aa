package lock

import (
	"bytes"
	"reflect"
	"testing"
)

// TestThreat08HostileFields puts what would act elsewhere into every string of a lock, one
// at a time: with digests that fit, the lock is refused all the same.
func TestThreat08HostileFields(t *testing.T) {
	l, _ := example(t)
	base, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, evil := range []string{"\nruncmd:\n - [touch, /x]", "\x1b]0;x\x07", "\u009b31m", "\u202e", "\r", "\x00", "\u2028x"} {
		tried := 0
		for i := 0; ; i++ {
			l, _ := example(t)
			n := 0
			if !taint(reflect.ValueOf(l).Elem(), &n, i, evil) {
				break
			}
			out, err := l.Encode()
			if err != nil || bytes.Equal(out, base) { // a digest is computed anew
				continue
			}
			tried++
			if _, err = Decode(out); err == nil {
				t.Errorf("%q in string %d is taken:\n%s", evil, i, out)
			}
		}
		if tried < 30 {
			t.Errorf("only %d strings were tried", tried)
		}
	}
}

// taint adds evil to the i-th string below v.
func taint(v reflect.Value, n *int, i int, evil string) bool {
	switch v.Kind() {
	case reflect.String:
		if *n++; *n-1 == i {
			v.SetString(v.String() + evil)
			return true
		}
	case reflect.Pointer:
		return !v.IsNil() && taint(v.Elem(), n, i, evil)
	case reflect.Slice:
		for k := range v.Len() {
			if taint(v.Index(k), n, i, evil) {
				return true
			}
		}
	case reflect.Struct:
		for k := range v.NumField() {
			if taint(v.Field(k), n, i, evil) {
				return true
			}
		}
	}
	return false
}
