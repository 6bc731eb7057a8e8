// Command clerk serves requests over HTTP that its own clients make, with five functions, and keeps books of how
// long each call of them took, by its own clock, without anybody's help. It prints its address first, and answers
//
//	/work/I            by calling function I
//	/books?from=&to=   with the books of calls that have ended between two Unix times in nanoseconds, as JSON
//	/metrics           with the number of calls so far, for Prometheus
//
// Usage: clerk [-clients N]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// call is one of a function.
type call struct{ ended, took int64 }

// ledger is what is known of a function.
type ledger struct {
	mu    sync.Mutex
	calls []call
}

var (
	names   = [...]string{"main.greet", "main.search", "main.weigh", "main.pack", "main.deliver"}
	ledgers [len(names)]ledger
	sink    int
)

// wait takes from least to most, each tenfold as likely.
func wait(least, most time.Duration) {
	time.Sleep(time.Duration(float64(least) * math.Pow(float64(most)/float64(least), rand.Float64())))
}

//go:noinline
func greet() { wait(2*time.Millisecond, 4*time.Millisecond); sink++ }

//go:noinline
func search() { wait(3*time.Millisecond, 30*time.Millisecond); sink++ }

//go:noinline
func weigh() { wait(10*time.Millisecond, 12*time.Millisecond); sink++ }

//go:noinline
func pack() { wait(5*time.Millisecond, 80*time.Millisecond); sink++ }

//go:noinline
func deliver() { wait(20*time.Millisecond, 200*time.Millisecond); sink++ }

var work = [len(names)]func(){greet, search, weigh, pack, deliver}

func serve(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/work/"))
	if err != nil || i < 0 || i >= len(work) {
		http.NotFound(w, r)
		return
	}
	began := time.Now()
	work[i]()
	took := time.Since(began)
	l := &ledgers[i]
	l.mu.Lock()
	l.calls = append(l.calls, call{began.Add(took).UnixNano(), took.Nanoseconds()})
	l.mu.Unlock()
	fmt.Fprintln(w, took)
}

// quantiles are those that the books have.
var quantiles = []float64{0.5, 0.9, 0.99}

// page is what the books have of a function.
type page struct {
	Calls     int
	Quantiles []float64 // in seconds
}

func books(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.ParseInt(r.FormValue("from"), 10, 64)
	to, _ := strconv.ParseInt(r.FormValue("to"), 10, 64)
	pages := make(map[string]page)
	for i := range ledgers {
		var took []int64
		ledgers[i].mu.Lock()
		for _, c := range ledgers[i].calls {
			if c.ended >= from && c.ended < to {
				took = append(took, c.took)
			}
		}
		ledgers[i].mu.Unlock()
		sort.Slice(took, func(a, b int) bool { return took[a] < took[b] })
		p := page{Calls: len(took)}
		for _, q := range quantiles {
			if len(took) > 0 {
				p.Quantiles = append(p.Quantiles, float64(took[int(math.Ceil(q*float64(len(took))))-1])/1e9)
			}
		}
		pages[names[i]] = p
	}
	json.NewEncoder(w).Encode(pages)
}

func metrics(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "# TYPE clerk_calls_total counter")
	for i := range ledgers {
		ledgers[i].mu.Lock()
		fmt.Fprintf(w, "clerk_calls_total{function=%q} %d\n", names[i], len(ledgers[i].calls))
		ledgers[i].mu.Unlock()
	}
}

func main() {
	clients := flag.Int("clients", 20, "so many make requests, one after the other")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "clerk:", err)
		os.Exit(1)
	}
	http.HandleFunc("/work/", serve)
	http.HandleFunc("/books", books)
	http.HandleFunc("/metrics", metrics)
	fmt.Println(l.Addr())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *clients}}
	for i := 0; i < *clients; i++ {
		go func(i int) {
			for ; ; i++ {
				if answer, err := client.Get(fmt.Sprintf("http://%s/work/%d", l.Addr(), i%len(work))); err == nil {
					answer.Body.Close()
				}
			}
		}(i)
	}
	if err := http.Serve(l, nil); err != nil {
		fmt.Fprintln(os.Stderr, "clerk:", err)
		os.Exit(1)
	}
}
