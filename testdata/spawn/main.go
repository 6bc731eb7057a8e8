// Command spawn answers requests, each of which starts goroutines, in a way that tests know. It
// builds with Go 1.15.
//
// Usage: spawn [-n N | -for D] [-pause D] [-slow N -sleep D] [-linger N] [-stay N] [-grow N]
//
// main.handle(i) is called for each i below N, or as many as there is time for, which is told then:
// 32 at a time and each on a goroutine of its own that makes no other call, with a pause before
// each. It asks for the parent's process id and starts three goroutines, which call main.part(i, k)
// for k of 0, 1 and 2, and waits for them. Each part calls main.leaf(i, k), and the last one starts
// a goroutine that starts another, which calls main.deep(i); handle waits for that, too. Of every
// -slow requests the first calls main.rest(i), which sleeps. Of every -linger requests the first
// starts a goroutine whose call of main.linger(i) returns when that of handle has; of every -stay
// requests the first one whose call of main.stay(i) has begun then, and never returns.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var (
	requests = flag.Int("n", 1000, "requests")
	lasts    = flag.Duration("for", 0, "how long to go on, instead")
	pause    = flag.Duration("pause", 0, "between requests")
	slow     = flag.Int("slow", 0, "one of how many rests")
	sleep    = flag.Duration("sleep", time.Second, "for how long")
	lingers  = flag.Int("linger", 0, "one of how many starts what outlives it")
	stays    = flag.Int("stay", 0, "one of how many starts what never ends")
	grow     = flag.Int("grow", 0, "how many goroutines call main.idle")
)

func first(i, of int) bool { return of > 0 && i%of == 0 }

//go:noinline
func handle(i int, returned chan bool) (parts int) {
	var wg, begun sync.WaitGroup
	if syscall.Getppid(); i == 2 {
		runtime.GC() // which starts goroutines of its own
	}
	wg.Add(4)
	for k := 0; k < 3; k++ {
		go func(k int) {
			part(i, k, &wg)
			wg.Done()
		}(k)
	}
	if first(i, *lingers) {
		begun.Add(1)
		go linger(i, returned, &begun)
	}
	if first(i, *stays) {
		begun.Add(1)
		go stay(i, &begun)
	}
	if first(i, *slow) {
		rest(i)
	}
	wg.Wait()
	begun.Wait()
	return 3
}

//go:noinline
func part(i, k int, wg *sync.WaitGroup) {
	if leaf(i, k); k == 2 {
		go middle(i, wg)
	}
}

//go:noinline
func leaf(i, k int) int { return i + k }

//go:noinline
func middle(i int, wg *sync.WaitGroup) {
	go func() {
		deep(i)
		wg.Done()
	}()
}

//go:noinline
func deep(i int) int { return i }

//go:noinline
func rest(i int) {
	if i >= 0 { // a function that uses no argument may lose them all (see idle)
		time.Sleep(*sleep)
	}
}

//go:noinline
func linger(i int, returned chan bool, begun *sync.WaitGroup) {
	begun.Done()
	<-returned
}

//go:noinline
func stay(i int, begun *sync.WaitGroup) {
	begun.Done()
	select {}
}

//go:noinline
func idle(i int) byte {
	var frame [1000]byte
	return frame[*grow%1000]
}

//go:noinline
func below(n, i int) byte {
	if n > 0 {
		return below(n-1, i) + 1
	}
	return idle(i)
}

func main() {
	flag.Parse()
	var wg sync.WaitGroup
	for i := 0; i < *grow; i++ {
		wg.Add(1)
		go func(i int) {
			below(i, i)
			wg.Done()
		}(i)
	}
	wg.Wait()
	slots := make(chan bool, 32)
	start, n := time.Now(), 0
	for ; n < *requests && *lasts == 0 || time.Since(start) < *lasts; n++ {
		i := n
		time.Sleep(*pause)
		if !first(i, *slow) { // who rests holds up nobody
			slots <- true
		}
		wg.Add(1)
		go func(i int) {
			returned := make(chan bool)
			handle(i, returned)
			close(returned)
			if !first(i, *slow) {
				<-slots
			}
			wg.Done()
		}(i)
	}
	wg.Wait()
	want := 1 // goroutines that stay
	for i := 0; i < n; i++ {
		if first(i, *stays) {
			want++
		}
	}
	for runtime.NumGoroutine() > want {
		time.Sleep(time.Millisecond)
	}
	if *lasts > 0 {
		fmt.Printf("{\"requests\":%d}\n", n)
	}
}
