package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/doctor"
)

var workloadFuncs = []string{"main.fib", "main.parseList", "main.sleep", "main.recovers", "main.passes", "main.panics"}

// runWorkload runs for a second or two, and returns a line with the numbers of calls.
func runWorkload() string {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				sleep()
			}
		})
	}
	sum := 0
	for range 3 {
		sum += fib(12)
	}
	for i := range 997 {
		n, err := parseList("7," + strconv.Itoa(i) + ",13")
		if err != nil {
			return err.Error()
		}
		sum += n
	}
	caught := 0
	for range 11 {
		if recovers() != nil {
			caught++
		}
	}
	wg.Wait()
	return fmt.Sprintf("workload: fib 1395 calls, parseList 997, sleep 100, panics caught %d (sum %d)", caught, sum)
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func parseList(list string) (sum int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

//go:noinline
func sleep() { time.Sleep(5 * time.Millisecond) }

var errTrouble = errors.New("trouble")

//go:noinline
func recovers() (err error) {
	defer func() { err, _ = recover().(error) }()
	passes()
	return nil
}

//go:noinline
func passes() { panics() }

//go:noinline
func panics() { panic(errTrouble) }

// costFunctions are functions of ftgo that ftgo probes to measure the cost of hits. In tests they have other names,
// and are not found.
var costFunctions = doctor.Functions{
	doctor.Framed:    framed,
	doctor.Frameless: func(int) int { return frameless(&factor) },
	doctor.Fetched:   fetched,
	doctor.Faulty:    faulty,
}

// framed has a frame and a stack check, as most functions do.
//
//go:noinline
func framed(n int) int { return called(n) + 1 }

//go:noinline
func called(n int) int { return n * 5 }

var factor = 5

// frameless begins with an instruction that the kernel single-steps, because it may fault. ftgo finds
// no emulated instruction to probe instead.
//
//go:noinline
func frameless(p *int) int { return *p * 3 }

//go:noinline
func fetched(n int) int { return called(n) + 4 }

//go:noinline
func faulty(n int) int { return called(n) + 2 }
