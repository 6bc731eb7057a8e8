// Package yaml has functions in a package whose path ends in a dot and a version.
package yaml

import "fmt"

type Decoder struct{ n int }

//go:noinline
func Unmarshal(n int) int { return call(func() int { fmt.Println(n); return n }) }

//go:noinline
func call(f func() int) int { return f() }

//go:noinline
func (d *Decoder) Decode() int { fmt.Println(d.n); return d.n }
