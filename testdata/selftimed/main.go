// Command selftimed serves requests of 30 functions, which take 10 ns to 10 ms and are
// nested up to five deep, and times them itself, so that a tracer's latencies can be
// compared with what they are without any probe.
//
// It reads commands from standard input, and answers each by a line of JSON:
//
//	time SECONDS    serves requests, one function timed in each: {"mean": [ns…], "median": [ns…]}
//	serve SECONDS   serves requests, none timed: {"requests": N, "cpu": SECONDS}
//
//	request N       makes so many, none timed, and answers as serve does
//
// The work is counted, not timed: the same in each call, so many rounds of a
// multiplication as took the wanted time when the program began.
//
// Requests are of all functions; of those that take least; or such a one by HTTP each.
//
// Usage: selftimed [-workers N] [-requests all|short|http]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// own is how long each function works for itself, without those that it calls. Those of
// a row are nested as deep, which is their index.
var own = [6][5]time.Duration{
	{10, 100, 1e3, 10e3, 500e3},
	{30, 300, 3e3, 30e3, 500e3},
	{10, 100, 10e3, 50e3, 1e6},
	{50, 500, 5e3, 50e3, 1e6},
	{20, 200, 20e3, 100e3, 2e6},
	{10, 1e3, 50e3, 500e3, 5e6},
}

// rounds is own, in rounds of work.
var rounds [30]int

// worker is a goroutine that serves requests.
type worker struct {
	timed int // the function that is timed, -1 for none
	ns    [30][]int64
	sum   uint64
	times []int
	serve func() // a request
}

var began = time.Now()

func now() int64 { return int64(time.Since(began)) }

// work is inlined, so that the leaves have no frame.
func work(n int, x uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// call is inlined, too.
func (w *worker) call(f int, fn func(*worker)) {
	if w.timed != f {
		fn(w)
		return
	}
	from := now()
	fn(w)
	w.ns[f] = append(w.ns[f], now()-from)
}

// The functions: fDN is nested in calls up to D deep, from below.

// request runs every function: f50 and f51 often, as they take least.
func (w *worker) request() {
	for n, times := range w.times {
		for range times {
			w.call(25+n, roots[n])
		}
	}
}

// times is how often a request runs each of roots.
var times = map[string][]int{"all": {20, 10, 2, 1, 1}, "short": {20, 10}, "http": {5}}

// overHTTP has requests made by HTTP.
func overHTTP(w *worker) (request func(), err error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	handler := func(out http.ResponseWriter, _ *http.Request) {
		w.request()
		fmt.Fprintln(out, w.sum)
	}
	go http.Serve(at, http.HandlerFunc(handler))
	return func() {
		answer, err := http.Get("http://" + at.Addr().String())
		if err == nil {
			io.Copy(io.Discard, answer.Body)
			err = answer.Body.Close()
		}
		if err != nil {
			panic(err)
		}
	}, nil
}

// serve makes requests as long as there is to be another; timed tells whether functions are
// timed.
func serve(workers []*worker, another func(r int) bool, timed bool) (requests int64) {
	queue := make(chan int)
	var all sync.WaitGroup
	for _, w := range workers {
		w.ns = [30][]int64{}
		all.Go(func() {
			for r := range queue {
				if w.timed = -1; timed {
					w.timed = r % 30
				}
				w.serve()
				atomic.AddInt64(&requests, 1)
			}
		})
	}
	for r := 0; another(r); r++ {
		queue <- r
	}
	close(queue)
	all.Wait()
	return requests
}

// calibrate sets rounds, by the fastest of some tries.
func calibrate() {
	const many = 1 << 20
	best := int64(1 << 62)
	var x uint64
	for range 20 {
		from := now()
		x = work(many, x)
		best = min(best, now()-from)
	}
	if x == 1 { // it is to be used
		fmt.Fprintln(os.Stderr, x)
	}
	for d := range own {
		for n, t := range own[d] {
			rounds[d*5+n] = max(1, int(int64(t)*many/best))
		}
	}
}

// cpuTime is what the program has used, in seconds.
func cpuTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// clock is what it takes to time nothing.
func clock() int64 {
	w := &worker{}
	for range 1000 {
		w.call(0, func(*worker) {})
	}
	slices.Sort(w.ns[0])
	return w.ns[0][500]
}

func main() {
	n := flag.Int("workers", 1, "goroutines that serve requests")
	kind := flag.String("requests", "all", "all, short, http")
	flag.Parse()
	calibrate()
	workers := make([]*worker, *n)
	for i := range workers {
		w := &worker{times: times[*kind]}
		w.serve = w.request
		if *kind == "http" {
			var err error
			if w.serve, err = overHTTP(w); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		workers[i] = w
	}
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]int{"pid": os.Getpid()})
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		command, text, _ := strings.Cut(in.Text(), " ")
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		before := cpuTime()
		until := now() + int64(n*1e9)
		another := func(r int) bool { return now() < until || command == "time" && r < 2*30 } // each is timed
		if command == "request" {
			another = func(r int) bool { return float64(r) < n }
		}
		requests := serve(workers, another, command == "time")
		if command != "time" {
			out.Encode(map[string]float64{"requests": float64(requests), "cpu": cpuTime() - before})
			continue
		}
		var mean, median [30]int64
		off := clock()
		for f := range 30 {
			var all []int64
			for _, w := range workers {
				all = append(all, w.ns[f]...)
			}
			slices.Sort(all)
			if len(all) == 0 {
				continue
			}
			var sum int64
			for _, ns := range all {
				sum += ns
			}
			mean[f], median[f] = max(0, sum/int64(len(all))-off), max(0, all[len(all)/2]-off)
		}
		out.Encode(map[string]any{"mean": mean, "median": median, "requests": requests})
	}
}
