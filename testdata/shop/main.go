// Command shop serves its own customers over HTTP, and prints what it knows of them: the server that
// questions are asked about, whose answers are compared with its books. It says "ready", and opens
// when a line comes, or the end, of its input. It ends when its input has ended.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof" // has the linker keep the profile of allocations
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// books are what the shop knows.
type books struct {
	Requests map[string]int `json:"requests"` // by path
	Status   map[int]int    `json:"status"`
	Gets     map[string]int `json:"gets"` // of the store, by key
	Missing  int            `json:"missing"`
	Sold     int            `json:"sold"`
	Orders   int            `json:"orders"`
	Largest  int            `json:"largest"` // order
	dialed   atomic.Int64
	Dials    int64 `json:"dials"` // connections
	Jobs     int   `json:"jobs"`  // of the worker
	client   *http.Client
}

// store has how many there are of each thing.
type store struct {
	mu    sync.Mutex
	stock map[string]int
}

var errNone = errors.New("there is none")

//go:noinline
func (s *store) Get(key string) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.stock[key]
	if !ok {
		return 0, errNone // mark: nothing
	}
	return n, nil
}

//go:noinline
func (s *store) take(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stock[key] -= n
	orders++
}

// orders is watched.
var orders int64

type shop struct {
	store   store
	courier chan string
	parcels queue
}

// job is a parcel to wrap.
type job struct{ ID int }

// queue holds jobs until worker runs them.
type queue struct{ jobs chan *job }

//go:noinline
func (q *queue) Put(job *job) { q.jobs <- job }

// worker has run so many jobs.
type worker struct{ ran int }

//go:noinline
func (w *worker) Run(job *job) { w.ran++ }

// work runs jobs until there are no more, and says how many.
func (w *worker) work(q *queue, ran chan<- int) {
	for job := range q.jobs {
		w.Run(job)
	}
	ran <- w.ran
}

//go:noinline
func (s *shop) item(w http.ResponseWriter, r *http.Request) {
	n, err := s.store.Get(strings.TrimPrefix(r.URL.Path, "/item/"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	fmt.Fprintln(w, n)
}

//go:noinline
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	key, n := strings.TrimPrefix(r.URL.Path, "/order/"), 0
	fmt.Sscan(r.Header.Get("Quantity"), &n)
	s.store.take(key, n)
	if n > 2 { // more than can be carried home
		s.courier <- key
	}
	s.parcels.Put(&job{int(orders)})
	w.WriteHeader(http.StatusCreated)
}

//go:noinline
func (s *shop) deliver() {
	for range s.courier {
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	s := &shop{store{stock: map[string]int{"tea": 1000, "cup": 500, "pot": 50}}, make(chan string), queue{make(chan *job, 8)}}
	go s.deliver()
	ran := make(chan int)
	go new(worker).work(&s.parcels, ran)
	mux := http.NewServeMux()
	mux.HandleFunc("/item/", s.item)
	mux.HandleFunc("/order/", func(w http.ResponseWriter, r *http.Request) {
		tenant := pprof.Labels("tenant", strings.TrimPrefix(r.URL.Path, "/order/")+" buyers")
		pprof.Do(r.Context(), tenant, func(context.Context) { s.order(w, r) })
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	b := &books{Requests: make(map[string]int), Status: make(map[int]int), Gets: make(map[string]int)}
	var dialer net.Dialer
	b.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		b.dialed.Add(1)
		return dialer.DialContext(ctx, network, addr)
	}}}
	for range 20 {
		runtime.GC()
		for i, path := range []string{"/item/tea", "/item/tea", "/item/tea", "/item/cup", "/item/cup", "/item/mug", "/order/tea", "/order/pot"} {
			if err := b.ask(server.URL, path, i-4); err != nil {
				fmt.Fprintln(os.Stderr, "shop:", err)
				os.Exit(1)
			}
		}
	}
	close(s.parcels.jobs)
	b.Dials, b.Jobs = b.dialed.Load(), <-ran
	json.NewEncoder(os.Stdout).Encode(b)
	io.Copy(io.Discard, os.Stdin)
}

// ask sends a request, and notes what it is and what comes of it.
func (b *books) ask(url, path string, quantity int) error {
	request, err := http.NewRequest("GET", url+path, nil)
	if err != nil {
		return err
	}
	key, ordered := strings.CutPrefix(path, "/order/")
	if ordered {
		request.Header.Set("Quantity", fmt.Sprint(quantity))
		b.Orders++
		b.Sold += quantity
		b.Largest = max(b.Largest, quantity)
	} else {
		key = strings.TrimPrefix(path, "/item/")
		b.Gets[key]++
	}
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	b.Requests[path]++
	b.Status[response.StatusCode]++
	if response.StatusCode == http.StatusNotFound {
		b.Missing++
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
