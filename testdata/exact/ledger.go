package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"sort"
	"sync"
)

// tally is what became of the calls of one function.
// Calls = Completed + Unwound + Open.
type tally struct {
	Calls     int64 `json:"calls"`
	Completed int64 `json:"completed"`
	Unwound   int64 `json:"unwound"`
	Open      int64 `json:"open"`
}

// spread sums up durations in nanoseconds.
type spread struct {
	Min  int64 `json:"min"`
	P50  int64 `json:"p50"`
	Mean int64 `json:"mean"`
	Max  int64 `json:"max"`
}

// timing brackets the latency of a function: measured between the first and
// the last statement of its body, and by the caller around the call. A true
// entry-to-return latency lies between the two, call by call.
type timing struct {
	Calls int64 `json:"calls"`
	spread
	Outer spread `json:"outer"`
}

// ledger is the program's own account of its calls. It is written by the
// callers of the booked functions only, so that keeping it does not change
// the code of those functions.
type ledger struct {
	Go        string             `json:"go"`
	Functions map[string]*tally  `json:"functions"`
	Unbooked  []string           `json:"unbooked"`
	Durations map[string]*timing `json:"durations"`
	Moved     map[string]int64   `json:"moved"`
	Checksum  uint64             `json:"checksum"`

	mu           sync.Mutex
	inner, outer map[string][]int64
}

func newLedger() *ledger {
	return &ledger{
		Go:        runtime.Version(),
		Functions: map[string]*tally{},
		Unbooked:  []string{},
		Durations: map[string]*timing{},
		Moved:     map[string]int64{},
		inner:     map[string][]int64{},
		outer:     map[string][]int64{},
	}
}

func (b *ledger) add(name string, completed, unwound, open int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.Functions[name]
	if t == nil {
		t = &tally{}
		b.Functions[name] = t
	}
	t.Calls += completed + unwound + open
	t.Completed += completed
	t.Unwound += unwound
	t.Open += open
}

func (b *ledger) returned(name string, n int) { b.add(name, int64(n), 0, 0) }
func (b *ledger) unwound(name string, n int)  { b.add(name, 0, int64(n), 0) }
func (b *ledger) open(name string, n int)     { b.add(name, 0, 0, int64(n)) }

// unbooked names a wrapper that the compiler may or may not make, and through
// which booked methods are reached.
func (b *ledger) unbooked(name string) {
	for _, have := range b.Unbooked {
		if have == name {
			return
		}
	}
	b.Unbooked = append(b.Unbooked, name)
}

// moved counts calls whose stack was seen at another address at their end.
func (b *ledger) moved(name string, n int) {
	b.mu.Lock()
	b.Moved[name] += int64(n)
	b.mu.Unlock()
}

func (b *ledger) lasted(name string, inner, outer int64) {
	b.inner[name] = append(b.inner[name], inner)
	b.outer[name] = append(b.outer[name], outer)
}

// work adds the result of some calls to the checksum, in any order.
func (b *ledger) work(x int) {
	z := uint64(x) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	b.mu.Lock()
	// 40 bits each: the sum stays a number that any JSON reader holds exactly.
	b.Checksum += (z ^ z>>31) >> 24
	b.mu.Unlock()
}

func (b *ledger) print(w io.Writer) {
	for name, inner := range b.inner {
		b.Durations[name] = &timing{int64(len(inner)), newSpread(inner), newSpread(b.outer[name])}
	}
	sort.Strings(b.Unbooked)
	text, err := json.Marshal(b)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "exact: print books:", err)
		os.Exit(1)
	}
}

type ascending []int64

func (a ascending) Len() int           { return len(a) }
func (a ascending) Less(i, j int) bool { return a[i] < a[j] }
func (a ascending) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

func newSpread(ns []int64) spread {
	sort.Sort(ascending(ns))
	sum := int64(0)
	for _, d := range ns {
		sum += d
	}
	return spread{ns[0], ns[len(ns)/2], sum / int64(len(ns)), ns[len(ns)-1]}
}

// nameOf is the linker's name of a function value, for the functions whose
// spelling depends on the version of Go.
func nameOf(f interface{}) string {
	return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
}

// onGoroutines runs f(0) … f(n-1) each on a goroutine of its own and returns
// the sum of the results.
func onGoroutines(n int, f func(i int) int) int {
	results := make(chan int)
	for i := 0; i < n; i++ {
		go func(i int) { results <- f(i) }(i)
	}
	sum := 0
	for i := 0; i < n; i++ {
		sum += <-results
	}
	return sum
}
