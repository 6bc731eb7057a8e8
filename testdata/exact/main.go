// Command exact is a target for tracers that keeps the books of its own calls.
//
// It runs every way a Go function can be entered and left a known number of
// times and then prints, as one JSON object, how many calls of each function
// were begun, completed by a return, unwound by a panic or runtime.Goexit, or
// are still open. A tracer that watched the whole run must report the same.
//
// It compiles with Go 1.5 to 1.26, as a module package and in GOPATH mode, so
// the files without build constraints use nothing newer than Go 1.5. That
// version does not know //go:noinline, but its inliner leaves every function
// with a switch alone: the empty switches in the small functions are for it.
//
// Usage: exact [-wait MILLISECONDS] [-stdin] [ROUNDS]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

var cases = []func(*ledger){
	leaves, frames, growth, panics, faults, branches, nestedPanics, goexits, wanderers,
	syscalls, methods, closures, defers, generics, preemption, timings, blocked,
}

func main() {
	wait := flag.Int("wait", 0, "sleep this many milliseconds before the first call")
	stdin := flag.Bool("stdin", false, "print ready and the process id to standard error, then wait for a line or EOF")
	flag.Parse()
	rounds := 1
	if flag.NArg() > 0 {
		n, err := strconv.Atoi(flag.Arg(0))
		if err != nil || n < 1 || flag.NArg() > 1 {
			fmt.Fprintf(os.Stderr, "exact: read rounds: want one positive number, have %q\n", flag.Args())
			os.Exit(2)
		}
		rounds = n
	}
	// Threads must be able to pass goroutines on even where there is one CPU.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(4)
	}
	if *stdin {
		fmt.Fprintln(os.Stderr, "ready", os.Getpid())
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	time.Sleep(time.Duration(*wait) * time.Millisecond)

	b := newLedger()
	b.returned("main.main", 1)
	for r := 0; r < rounds; r++ {
		for _, run := range cases {
			run(b)
		}
	}
	b.print(os.Stdout)
}
