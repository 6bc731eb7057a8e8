// Command covered calls each of many functions once, and a few others millions of times. Its functions have no branches, so that
// each has run as a whole or not at all.
package main

import (
	"fmt"
	"os"
	"time"
)

var x int

func init() { x = 1 }

// spin calls a function for some milliseconds.
func spin(f func()) {
	for began := time.Now(); time.Since(began) < 4*time.Millisecond; {
		f()
	}
}

type shape interface{ area() int }

type square[T any] struct{ side int }

func (s square[T]) area() int { return s.side * s.side }

func (s *square[T]) grow() { s.side++ }

type unused struct{}

func (unused) area() int {
	return 0
}

func pick[T any](a, b T) T { return b }

// closures runs the first of two function literals that begin in its lines.
func closures() (func() int, func() int) {
	return func() int {
			return x
		}, func() int {
			return x + 1
		}
}

func recovered() { _ = recover() }

func panics() {
	defer recovered()
	panic("told to")
}

func rare() {
	fmt.Println(shape(unused{}).area())
	notCalled()
	once255()
}

func notCalled() { fmt.Println("never") }

var table = map[string]func(){
	"not": func() { fmt.Println("called") },
	"run": func() { x++ },
}

func main() {
	for _, f := range onces {
		f()
	}
	s := &square[string]{side: 2}
	s.grow()
	first, _ := closures()
	panics()
	table["run"]()
	[]func(){recovered, rare}[min(len(os.Args)-1, 1)]()
	fmt.Println(shape(s).area(), first(), pick("a", "b"))
}
