// Command asks asks the kernel, by system calls that nothing else makes, a known number of
// times in each function, on goroutines that change places on few threads all the time.
//
// Usage: asks [-n N]
//
// Of N rounds each: main.once asks for the parent once; main.around does twice, and calls
// main.once three times in between; main.relay is called once for each of four goroutines
// that wait for each other N times, and asks for the parent each time; main.other is called
// N times, by goroutines that run meanwhile, and asks for the group; and what asks for the
// session, N times, is in no function that could be probed. It compiles with Go 1.5 to 1.26.
package main

import (
	"flag"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func ask(number uintptr) { syscall.RawSyscall(number, 0, 0, 0) }

//go:noinline
func once() { ask(syscall.SYS_GETPPID) }

//go:noinline
func around() int {
	ask(syscall.SYS_GETPPID)
	for i := 0; i < 3; i++ {
		once()
	}
	ask(syscall.SYS_GETPPID)
	return 3
}

//go:noinline
func relay(n int, from <-chan bool, to chan<- bool) int {
	for i := 0; i < n; i++ {
		<-from
		ask(syscall.SYS_GETPPID)
		to <- true
	}
	return n
}

//go:noinline
func other() int {
	ask(syscall.SYS_GETPGID)
	return 1
}

// poke sends a signal to the process itself.
//
//go:noinline
func poke(s os.Signal, c <-chan os.Signal) os.Signal {
	syscall.Kill(syscall.Getpid(), s.(syscall.Signal))
	return <-c
}

func main() {
	n := flag.Int("n", 101, "rounds")
	flag.Parse()
	for i := 0; i < *n; i++ {
		around()
	}
	var wg sync.WaitGroup
	ring := make([]chan bool, 4)
	for i := range ring {
		ring[i] = make(chan bool, 1)
	}
	for i := range ring {
		wg.Add(1)
		go func(i int) {
			relay(*n, ring[i], ring[(i+1)%len(ring)])
			wg.Done()
		}(i)
	}
	ring[0] <- true
	for i := 0; i < *n; i++ {
		wg.Add(1)
		go func() {
			other()
			ask(syscall.SYS_GETSID)
			wg.Done()
		}()
	}
	wg.Wait()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for i := 0; i < *n; i++ {
		poke(syscall.SIGUSR1, signals)
	}
}
