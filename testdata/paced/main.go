// Paced does nothing but count, on some threads, and calls functions while it does, so often in each
// second that it counts in. It tells how far it has come at first, and whenever it reads a line; if that has two numbers,
// I and N, it first makes N calls of function I.
//
//	paced [-threads N] [-for DURATION] RATE...
//	paced ... RATExN...
//
// Each RATE is of another function, in calls a second: main.c00, main.c01 and so on.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	threads = flag.Int("threads", 1, "count on so many")
	whole   = flag.Duration("for", 0, "end after this time, whatever is read")
	done    atomic.Uint64 // units, of all threads
	calls   [len(funcs)]atomic.Uint64
	unit    uint64 // how far to count in 100 µs
)

const perSecond = 10_000 // units

func main() {
	flag.Parse()
	rates := make([]float64, flag.NArg())
	for i, text := range flag.Args() {
		rate, times, repeated := text, 1, false
		if rate, _, repeated = strings.Cut(text, "x"); repeated { // RATExN
			times, _ = strconv.Atoi(text[len(rate)+1:])
		}
		n, err := strconv.ParseFloat(rate, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		rates[i] = n
		for range times - 1 {
			rates = append(rates, n)
		}
	}
	serving()
	unit = calibrated()
	for range *threads {
		go pace(rates)
	}
	tell()
	if *whole > 0 {
		time.Sleep(*whole)
		return
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var i, n int
		fmt.Sscan(in.Text(), &i, &n)
		var x uint64
		for range n {
			x += funcs[i](x)
		}
		calls[i].Add(uint64(n))
		tell()
	}
}

// calibrated is how far it counts in 100 µs.
func calibrated() uint64 {
	best := time.Hour
	const n = 1 << 22
	for range 5 {
		start := time.Now()
		count(n)
		best = min(best, time.Since(start))
	}
	return uint64(n * 100e-6 / best.Seconds())
}

var sink atomic.Uint64

//go:noinline
func count(n uint64) {
	x := n
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// pace counts, and calls.
func pace(rates []float64) {
	due := make([]float64, len(rates))
	var x uint64
	for {
		count(unit)
		done.Add(1)
		for i, rate := range rates {
			if due[i] += rate / perSecond; due[i] >= 1 {
				n := int(due[i])
				due[i] -= float64(n)
				for range n {
					x += funcs[i](x)
				}
				calls[i].Add(uint64(n))
			}
		}
	}
}

func tell() {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	made := make([]uint64, len(calls))
	for i := range made {
		made[i] = calls[i].Load()
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"PID": os.Getpid(), "Requests": done.Load(), "CPU": cpu.Seconds(), "Calls": made})
}
