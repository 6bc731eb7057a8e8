// Tally calls functions and counts its calls in a file that others map, so that they know at any
// moment how many there were. It ends when its input does.
//
//	tally FILE equal    forty functions, called in turn without a pause
//	tally FILE hot      main.f00 thousands of times as often as thirty-nine others, without a pause
//	tally FILE bursts   four functions without a pause for the first 200 ms of each second; ten a thousand times a second otherwise
//	tally FILE sleeps   ten functions and main.nap some four hundred times a second, and nothing else
//	tally FILE mixed    main.handle with few values, main.slow (0.1 ms) and eleven others, without a pause
//
// It writes one JSON object first: its PID, and the rows of the file. A row is three 64-bit words in
// the machine's byte order: calls, nanoseconds of those calls that it timed, and how many these were.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// A row describes a row of the file.
type row struct {
	Function string
	Value    string `json:",omitempty"` // of main.handle's route
	Size     int64  // main.handle's size in each of these calls
	Units    uint64 // steps of spin in each call
	Timed    bool   // all calls have their time in the table
	rare     bool   // so rare that clocks around each call cost nothing
}

type counts struct{ calls, ns, timed uint64 }

// sampling keeps clocks out of most calls, because a clock costs more than a short function.
const sampling = 61

var (
	rows    []row
	table   []counts
	clock   time.Duration // cost of a pair of clocks
	typical []time.Duration
)

// steps are those of main.f00, main.f01 and so on, in turn.
var steps = [...]uint64{10, 30, 100, 300}

const (
	firstHandle = len(funcs)
	slowRow     = firstHandle + len(routes)
	napRow      = slowRow + 1
)

var routes = [...]struct {
	name  string
	size  int64
	share uint64 // of 100
}{{"/", 100, 40}, {"/item", 300, 30}, {"/cart", 1000, 20}, {"/search", 20, 9}, {"/admin", 100000, 1}}

func main() {
	modes := map[string]func(){"equal": equal, "hot": hot, "bursts": bursts, "sleeps": sleeps, "mixed": mixed}
	if len(os.Args) != 3 || modes[os.Args[2]] == nil {
		fmt.Fprintln(os.Stderr, "usage: tally FILE equal|hot|bursts|sleeps|mixed")
		os.Exit(2)
	}
	for i := range funcs {
		rows = append(rows, row{Function: fmt.Sprintf("main.f%02d", i), Units: steps[i%len(steps)]})
	}
	for _, r := range routes {
		rows = append(rows, row{Function: "main.handle", Value: r.name, Size: r.size, Units: handleSteps})
	}
	rows = append(rows, row{Function: "main.slow", Units: slowSteps, Timed: true}, row{Function: "main.nap", Timed: true})
	if err := share(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	calibrate()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"PID": os.Getpid(), "Rows": rows})
	go modes[os.Args[2]]()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// share maps the table into the file.
func share(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	size := len(rows) * int(unsafe.Sizeof(counts{}))
	if err := f.Truncate(int64(size)); err != nil {
		return err
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	table = unsafe.Slice((*counts)(unsafe.Pointer(&memory[0])), len(rows))
	return nil
}

// calibrate finds the cost of a pair of clocks, and the time of each row that is sampled.
func calibrate() {
	clock = time.Hour
	for range 1000 {
		start := time.Now()
		clock = min(clock, time.Since(start))
	}
	typical = make([]time.Duration, len(rows))
	for i := range rows {
		typical[i] = time.Hour
		for range 100 {
			if rows[i].Timed {
				break
			}
			start := time.Now()
			run(i)
			typical[i] = min(typical[i], time.Since(start))
		}
	}
}

var sink uint64

// run calls the function of a row.
func run(i int) {
	switch {
	case i < firstHandle:
		sink += funcs[i](sink)
	case i < slowRow:
		sink += handle(routes[i-firstHandle].name, routes[i-firstHandle].size)
	case i == slowRow:
		sink += slow(sink)
	default:
		nap()
	}
}

// call calls the function of a row and counts the call. A sampled call that took much longer than it
// should is counted and not timed: the thread waited for a CPU.
func call(i int) {
	c := &table[i]
	if !rows[i].Timed && !rows[i].rare && c.calls%sampling != 0 {
		run(i)
		c.calls++
		return
	}
	start := time.Now()
	run(i)
	took := time.Since(start) - clock
	if rows[i].Timed || took < 3*typical[i]+20*time.Microsecond {
		c.ns += uint64(max(took, 0))
		c.timed++
	}
	c.calls++
}

func rare(from, until int) {
	for i := from; i < until; i++ {
		rows[i].rare = true
	}
}

func equal() {
	for {
		for i := range funcs {
			call(i)
		}
	}
}

func hot() {
	rare(1, len(funcs))
	for n := 0; ; n++ {
		call(0)
		if n%100_000 == 0 {
			for i := 1; i < len(funcs); i++ {
				call(i)
			}
		}
	}
}

func bursts() {
	rare(4, 14)
	for began := time.Now(); ; {
		if time.Since(began)%time.Second < 200*time.Millisecond {
			for n := range 4000 {
				call(n % 4)
			}
			continue
		}
		for i := 4; i < 14; i++ {
			call(i)
		}
		time.Sleep(time.Millisecond)
	}
}

func sleeps() {
	rare(0, 10)
	for {
		for i := range 10 {
			call(i)
		}
		call(napRow)
	}
}

func mixed() {
	random := uint64(1)
	for {
		for range 8 {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			route, share := 0, random%100
			for share >= routes[route].share {
				share -= routes[route].share
				route++
			}
			call(firstHandle + route)
		}
		for i := range 11 {
			call(i)
		}
		call(slowRow)
	}
}

const (
	handleSteps = 500
	slowSteps   = 50_000
)

//go:noinline
func handle(route string, size int64) uint64 {
	return spin(uint64(len(route))+uint64(size), handleSteps)
}

//go:noinline
func slow(x uint64) uint64 { return spin(x, slowSteps) }

//go:noinline
func nap() { time.Sleep(2 * time.Millisecond) }

func spin(x, n uint64) uint64 {
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
