// Command heap allocates in several ways, writes the heap profile of runtime/pprof to the file of its first argument,
// and waits until its input ends. With a second argument it goes on allocating pairs of objects at full speed, and writes
// the file at the end. It compiles with Go 1.17 to 1.27.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
)

type store struct {
	kept [][]byte
	last interface{}
}

// keep is inlined into its callers.
func (s *store) keep(n int) { s.kept = append(s.kept, make([]byte, n)) }

func (s *store) put(n int) { s.keep(n) }

// wrapped has the methods of store by wrappers.
type wrapped struct{ *store }

type putter interface{ put(n int) }

//go:noinline
func putAll(p putter, n int) {
	for i := 0; i < n; i++ {
		p.put(1000)
	}
}

//go:noinline
func deep(s *store, n int) int {
	if n == 0 {
		s.keep(5000)
		return 0
	}
	return deep(s, n-1) + 1
}

//go:noinline
func words(s *store) {
	var b strings.Builder
	for i := 0; i < 2000; i++ {
		b.WriteString("some words, and ")
	}
	var m = map[string]int{}
	for i := 0; i < 500; i++ {
		m[fmt.Sprint("key", i)] = i
	}
	s.last = []interface{}{b.String(), m}
}

//go:noinline
func first() *[8]int64 { return new([8]int64) }

//go:noinline
func second() *[16]int64 { return new([16]int64) }

// pairs allocates an object in first and one in second by turns.
func pairs(stop *int32) (n int) {
	for ; atomic.LoadInt32(stop) == 0; n++ {
		a, b := first(), second()
		a[0] = b[0]
	}
	return n
}

func main() {
	// The runtime of Go 1.17 and 1.18 overwrites what it has read.
	fmt.Sscanf(os.Getenv("GODEBUG"), "memprofilerate=%d", &runtime.MemProfileRate)
	var s store
	for i := 0; i < 100; i++ { // old versions of Go take a new rate only after the next sample
		bytes.Repeat([]byte("x"), 1<<20)
	}
	s.put(100000)
	putAll(&s, 100)
	putAll(wrapped{&s}, 100)
	for _, n := range []int{3, 40, 300} {
		deep(&s, n)
	}
	words(&s)
	func() { s.keep(777) }()
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		defer s.keep(12345)
		for i := 0; i < 50; i++ {
			bytes.Repeat([]byte("x"), 4096) // garbage
		}
	}()
	wait.Wait()
	if len(os.Args) > 2 {
		runtime.MemProfileRate = 1
		debug.SetGCPercent(10)
		var stop int32
		go func() {
			io.Copy(io.Discard, os.Stdin)
			atomic.StoreInt32(&stop, 1)
		}()
		fmt.Println("ready")
		fmt.Println(pairs(&stop))
	}
	runtime.GC()
	debug.SetGCPercent(-1)
	f, err := os.Create(os.Args[1])
	if err == nil {
		err = pprof.Lookup("heap").WriteTo(f, 0)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(&s)
}
