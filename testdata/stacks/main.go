// Command stacks is a target for tracers that logs its own stacks.
//
// Three goroutines call leaf N times altogether, ten calls deep or more, by ways that differ:
// through functions that the compiler inlines, methods by way of interfaces, closures,
// deferred calls, panics, recursion, and after the stack has been moved. Each call is written
// as a JSON line, with what runtime.Callers said in it. It compiles with Go 1.7 to 1.26.
//
// Usage: stacks [N]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

type call struct {
	N     int     `json:"n"`
	Stack []frame `json:"stack"`
}

var (
	mu    sync.Mutex
	calls []call
)

// leaf is the function to trace.
//
//go:noinline
func leaf(n int) int {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	c := call{N: n}
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		c.Stack = append(c.Stack, frame{f.Function, f.File, f.Line})
	}
	mu.Lock()
	calls = append(calls, c)
	mu.Unlock()
	return n + 1
}

// The ways to leaf end with it and begin with a goroutine.

func inlined1(n int) int { return leaf(n) + 1 }
func inlined2(n int) int { return inlined1(n) + 1 }

//go:noinline
func twice(n int) int { return inlined2(n) + inlined1(n+1) }

//go:noinline
func framed1(n int) int { return twice(n) }

//go:noinline
func framed2(n int) int {
	var pad [64]byte
	pad[n%64] = byte(framed1(n))
	return int(pad[(n+1)%64])
}

type stepper interface {
	step(n int) int
}

type walker struct{ depth int }

//go:noinline
func (w *walker) step(n int) int { return framed2(n) + w.depth }

type runner struct{ walker }

//go:noinline
func viaInterface(s stepper, n int) int { return s.step(n) + 1 }

//go:noinline
func deferred(n int) (sum int) {
	defer func() { sum += viaInterface(&runner{}, n) }()
	return n
}

//go:noinline
func panics(n int) (sum int) {
	defer func() {
		recover()
		sum = framed2(n)
	}()
	panic(n)
}

var nowhere *int

//go:noinline
func faults(n int) (sum int) {
	defer func() {
		recover()
		sum = framed1(n)
	}()
	return *nowhere + n
}

//go:noinline
func recurse(depth, n int) int {
	if depth == 0 {
		return framed1(n)
	}
	return recurse(depth-1, n) + 1
}

// grow has the stack moved before leaf is called.
//
//go:noinline
func grow(size, n int) int {
	var pad [512]byte
	pad[n%512] = byte(n)
	if size > 0 {
		return grow(size-1, n) + int(pad[(n+1)%512])
	}
	return int(pad[(n+1)%512])
}

//go:noinline
func moved(n int) int {
	grow(40, n)
	return framed2(n)
}

// through calls by way of a closure and a method value.
//
//go:noinline
func through(f func(int) int, n int) int { return f(n) + 1 }

//go:noinline
func outer1(i, n int) { outer2(i, n) }

//go:noinline
func outer2(i, n int) { way(i, n) }

//go:noinline
func way(i, n int) {
	switch i % 8 {
	case 0:
		deferred(n)
	case 1:
		panics(n)
	case 2:
		through(func(k int) int { return viaInterface(&walker{2}, k) }, n)
	case 3:
		recurse(3, n)
	case 4:
		moved(n)
	case 5:
		through((&walker{1}).step, n)
	case 6:
		recurse(30, n)
	case 7:
		faults(n)
	}
}

func main() {
	n := 1000
	if len(os.Args) > 1 {
		var err error
		if n, err = strconv.Atoi(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "stacks: read N:", err)
			os.Exit(2)
		}
	}
	var wg sync.WaitGroup
	for g := 0; g < 3; g++ {
		wg.Add(1)
		go func(g int) {
			defer wg.Done()
			// Each way calls leaf twice, with numbers that nobody else uses.
			for i := g; 2*i < n; i += 3 {
				outer1(i, 2*i)
			}
		}(g)
	}
	wg.Wait()
	enc := json.NewEncoder(os.Stdout)
	for _, c := range calls {
		if err := enc.Encode(c); err != nil {
			fmt.Fprintln(os.Stderr, "stacks: write calls:", err)
			os.Exit(1)
		}
	}
}
