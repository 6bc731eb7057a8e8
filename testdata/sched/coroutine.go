//go:build go1.23
// +build go1.23

package main

import (
	"iter"
	"time"
)

// newPull returns what makes a coroutine compute 1 ms.
func newPull() func() {
	next, _ := iter.Pull(func(yield func(bool) bool) {
		for compute(time.Millisecond); yield(true); {
			compute(time.Millisecond)
		}
	})
	return func() { next() }
}
