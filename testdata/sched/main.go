// Command sched makes calls that compute, wait and are kept from running for times that it
// takes itself, on one P. It builds with Go 1.11.
//
// Usage: sched [-n N] FILE
//
// FILE gets a line for each call but the open one, as they ended: the function, and how many
// nanoseconds it was running, runnable and waiting.
//
// N times each, one after the other: main.mixed computes 2 ms, sleeps 5 ms and gives way to a
// goroutine that spins 3 ms; main.receive, main.send and main.choose wait for a channel, main.lock
// for a mutex, main.condition for a condition, main.poll for a pipe in Go's runtime and main.read
// for one in the kernel, 2 ms each; main.pull waits for a coroutine that computes 1 ms, since Go
// 1.23; main.panics sleeps 1 ms and panics. Three times, main.loop computes 40 ms beside another
// goroutine that does, so that they take turns. A call of main.forever is open at the end.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// split is what a call has found out of itself.
type split struct{ running, runnable, waiting time.Duration }

type record struct {
	function string
	split
}

var records []record

func note(function string, s split) { records = append(records, record{function, s}) }

// cpuTime is that of the thread.
func cpuTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var ts syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&ts)), 0); err != 0 {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// compute has a CPU for d.
func compute(d time.Duration) (s split) {
	start, cpu := time.Now(), cpuTime()
	for s.running < d {
		s.running = cpuTime() - cpu
	}
	s.runnable = time.Since(start) - s.running
	return s
}

// spinner is who has spun last.
var spinner int32

// spin looks at the clock for d, and tells for how long it could not: it was another spinner's
// turn, or its thread did not run. What a host takes of a virtual CPU's time is the thread's for
// the kernel.
func spin(me int32, d time.Duration) (s split) {
	const noticed = 50 * time.Microsecond
	start, lastCPU, before := time.Now(), cpuTime(), false
	for last := time.Duration(0); last < d; {
		now, cpu := time.Since(start), cpuTime()
		gap, ran := now-last, cpu-lastCPU
		others := atomic.SwapInt32(&spinner, me) != me
		switch {
		case gap <= noticed:
			ran = gap
		case others || before || ran < 0: // before: it was another's behind the clock
			ran = 0
		case ran > gap:
			ran = gap
		}
		s.running += ran
		s.runnable += gap - ran
		last, lastCPU, before = now, cpu, others
	}
	return s
}

//go:noinline
func mixed(busy chan<- time.Duration) (s split) {
	s = compute(2 * time.Millisecond)
	start := time.Now()
	time.Sleep(5 * time.Millisecond)
	s.waiting = time.Since(start)
	busy <- 3 * time.Millisecond
	start = time.Now()
	runtime.Gosched()
	s.runnable += time.Since(start)
	return s
}

//go:noinline
func receive(c <-chan bool) (s split) {
	start := time.Now()
	<-c
	s.waiting = time.Since(start)
	return s
}

//go:noinline
func lock(m *sync.Mutex) (s split) {
	start := time.Now()
	m.Lock()
	s.waiting = time.Since(start)
	m.Unlock()
	return s
}

//go:noinline
func read(fd int) (s split) {
	var b [1]byte
	start := time.Now()
	if n, err := syscall.Read(fd, b[:]); n != 1 {
		panic(err)
	}
	s.waiting = time.Since(start)
	return s
}

//go:noinline
func send(c chan<- bool) (s split) {
	start := time.Now()
	c <- true
	s.waiting = time.Since(start)
	return s
}

//go:noinline
func choose(a, b <-chan bool) (s split) {
	start := time.Now()
	select {
	case <-a:
	case <-b:
	}
	s.waiting = time.Since(start)
	return s
}

//go:noinline
func condition(c *sync.Cond, done *bool) (s split) {
	c.L.Lock()
	start := time.Now()
	for !*done {
		c.Wait()
	}
	s.waiting = time.Since(start)
	*done = false
	c.L.Unlock()
	return s
}

//go:noinline
func poll(f *os.File) (s split) {
	var b [1]byte
	start := time.Now()
	if n, err := f.Read(b[:]); n != 1 {
		panic(err)
	}
	s.waiting = time.Since(start)
	return s
}

//go:noinline
func loop(d time.Duration) split { return spin(1, d) }

//go:noinline
func panics() (s split) {
	time.Sleep(time.Millisecond)
	panic("on purpose")
}

//go:noinline
func forever(c chan bool) split {
	<-c
	return split{}
}

func recovering() {
	defer func() { recover() }()
	panics()
}

func main() {
	n := flag.Int("n", 11, "rounds")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	busy := make(chan time.Duration, 1)
	go func() {
		for d := range busy {
			spin(2, d)
		}
	}()
	go forever(make(chan bool))
	const while = 2 * time.Millisecond
	c, m := make(chan bool), new(sync.Mutex)
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	polled, feed, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cond, done := sync.NewCond(new(sync.Mutex)), false
	coroutine := newPull()
	for i := 0; i < *n; i++ {
		note("main.mixed", mixed(busy))
		go func() { time.Sleep(while); c <- true }()
		note("main.receive", receive(c))
		m.Lock()
		go func() { time.Sleep(while); m.Unlock() }()
		note("main.lock", lock(m))
		go func() { time.Sleep(while); syscall.Write(pipe[1], []byte{1}) }()
		note("main.read", read(pipe[0]))
		go func() { time.Sleep(while); <-c }()
		note("main.send", send(c))
		go func() { time.Sleep(while); c <- true }()
		note("main.choose", choose(c, nil))
		go func() { time.Sleep(while); cond.L.Lock(); done = true; cond.L.Unlock(); cond.Signal() }()
		note("main.condition", condition(cond, &done))
		go func() { time.Sleep(while); feed.Write([]byte{1}) }()
		note("main.poll", poll(polled))
		if coroutine != nil {
			note("main.pull", pull(coroutine))
		}
		recovering()
	}
	for i := 0; i < 3; i++ {
		busy <- 40 * time.Millisecond
		note("main.loop", loop(40*time.Millisecond))
	}
	out, err := os.Create(flag.Arg(0))
	if err != nil {
		panic(err)
	}
	for _, r := range records {
		fmt.Fprintln(out, r.function, int64(r.running), int64(r.runnable), int64(r.waiting))
	}
	if err := out.Close(); err != nil {
		panic(err)
	}
}

//go:noinline
func pull(next func()) (s split) {
	start := time.Now()
	next()
	s.waiting = time.Since(start)
	return s
}
