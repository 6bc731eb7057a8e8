// Command server calls main.tick at a steady pace until it is told to end, for
// tests that attach to a running process, kill it, or replace its file. It
// prints a line with the word ready and its process id first, and its books as
// one JSON object on SIGTERM or SIGINT.
//
// It compiles with Go 1.5 to 1.26.
//
// Usage: server [-every DURATION]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// tally has the fields that the books of every target have.
type tally struct {
	Calls     int64 `json:"calls"`
	Completed int64 `json:"completed"`
	Unwound   int64 `json:"unwound"`
	Open      int64 `json:"open"`
}

type books struct {
	Go        string           `json:"go"`
	Functions map[string]tally `json:"functions"`
	Checksum  uint64           `json:"checksum"`
}

// tick takes a moment and depends on its argument, so that there is something
// to see in arguments, results and latencies.
//
//go:noinline
func tick(n int64) uint64 {
	x := uint64(n)
	for i := int64(0); i < 1000+n%1000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func main() {
	every := flag.Duration("every", 10*time.Millisecond, "time between two calls")
	flag.Parse()
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready", os.Getpid())

	calls, checksum := int64(0), uint64(0)
	ticker := time.NewTicker(*every)
	for running := true; running; {
		select {
		case <-ticker.C:
			checksum += tick(calls) >> 24
			calls++
		case <-end:
			running = false
		}
	}
	b := books{
		Go:        runtime.Version(),
		Functions: map[string]tally{"main.tick": {Calls: calls, Completed: calls}},
		Checksum:  checksum,
	}
	if err := json.NewEncoder(os.Stdout).Encode(b); err != nil {
		fmt.Fprintln(os.Stderr, "server: print books:", err)
		os.Exit(1)
	}
}
