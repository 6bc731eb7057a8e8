// Command crowd calls functions whose parameters are too many to be fetched, and functions
// with pointers that lead nowhere, or to zeros: five calls. Then it executes a program in its
// place, or stays for a minute, for what it has left in memory to be looked at.
//
// Usage: crowd [PROGRAM ARGS...]
package main

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

type node struct {
	N    int
	Name string
}

//go:noinline
func errors(a, b, c, d, e, f, g, h, i, j, k, l error) error { return l }

//go:noinline
func lists(a, b, c, d, e []string) int { return len(a) + len(e) }

//go:noinline
func plain(n int) int { return n }

//go:noinline
func astray(p *node, s string, q *int) {}

//go:noinline
func zeros(p *node, s string) {}

func main() {
	var err error
	errors(err, err, err, err, err, err, err, err, err, err, err, err)
	one := []string{"one"}
	lists(one, one, one, one, one)
	plain(7)
	// Where nothing is mapped, below what Go and the kernel use.
	nowhere := uintptr(0xdead0000)
	text := struct {
		at     uintptr
		length int
	}{nowhere, 3}
	astray(*(**node)(unsafe.Pointer(&nowhere)), *(*string)(unsafe.Pointer(&text)), invalid(0x10))
	zeros(&node{}, "\x00\x00\x00")
	if len(os.Args) > 1 {
		panic(syscall.Exec(os.Args[1], os.Args[1:], os.Environ()))
	}
	time.Sleep(time.Minute)
}

// invalid makes a pointer of a number.
func invalid(at uintptr) *int { return *(**int)(unsafe.Pointer(&at)) }
