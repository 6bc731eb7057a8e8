// Signatures has functions whose parameters and results are of all kinds, for tests of
// where values lie. It calls each of them once.
package main

import (
	"os"
	"time"
	"unsafe"
)

var (
	counter int64 = 7
	name          = "bob"
	cfg           = config{Limits: limits{Max: 9}}
	list          = []int{1, 2}
	failure error
	table   = map[string]int{"a": 1}
	small   [3]uint8
)

type limits struct {
	Min, Max int
}

type config struct {
	Name   string
	Limits limits
}

type point struct{ X, Y int32 }

type node struct {
	Value int
	Next  *node
}

type mixed struct {
	B bool
	I int8
	F float32
	P *int
}

type empty struct{}

type single [1]int

type celsius float64

type callback func(int) string

type namer interface {
	Name() string
}

//go:noinline
func (p point) Sum() int32 { return p.X + p.Y }

//go:noinline
func (n *node) Name() string {
	if n == nil {
		return ""
	}
	return "node"
}

//go:noinline
func (point) Blank(_ int, x int) int { return x + 1 }

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func sizes(a int8, b uint16, c int32, d uint64, e bool, f uintptr) (g uint8, h int64) {
	return uint8(a) + uint8(b), int64(c) + int64(d) + int64(f)
}

//go:noinline
func text(s string, n int) (string, error) {
	if n > len(s) {
		return s, failure
	}
	return s[:n], nil
}

//go:noinline
func slices(b []byte, l []string) (int, []byte) { return len(l), b }

//go:noinline
func floats(x float64, n int, y float32) (float64, int) { return x + float64(y), n }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int) (int, int, int, int, int, int, int, int, int, int) {
	return a, b, c, d, e, f, g, h, i, j + k
}

//go:noinline
func spill(a, b, c, d, e, f, g int, s []int, last int8) (n int, m string) {
	return a + b + c + d + e + f + g + len(s) + int(last), name
}

//go:noinline
func structs(p point, m mixed, n *node) (mixed, point) {
	m.I += int8(p.X) + int8(n.Value)
	return m, p
}

//go:noinline
func arrays(a [0]int, b [1]string, c [2]int32, d int, e single) ([2]int32, [1]string) {
	c[0] += int32(d) + int32(e[0]) + int32(len(a))
	return c, b
}

//go:noinline
func zero(a empty, b int, c empty) (empty, int) { return a, b + int(unsafe.Sizeof(c)) }

//go:noinline
func blank(_ string, a int, _ int, b string) int { return a + len(b) }

//go:noinline
func complexes(c complex128, d complex64, n int) complex128 {
	return c + complex128(d) + complex(float64(n), 0)
}

//go:noinline
func references(m map[string]int, c chan<- int, f callback, e error, n namer, a interface{}, p unsafe.Pointer) (callback, map[string]int) {
	if p != nil || e != nil || n == nil || a == nil || cap(c) > 99 {
		return nil, nil
	}
	return f, m
}

//go:noinline
func units(d time.Duration, t time.Time, c celsius) (time.Duration, celsius) {
	return d + time.Duration(t.Unix()), c
}

//go:noinline
func nothing() { counter++ }

//go:noinline
func variadic(format string, args ...interface{}) int { return len(format) + len(args) }

//go:noinline
func ordered(z, y, x int32, b string, a bool) (w, c int) {
	if a {
		return int(z), int(y)
	}
	return int(x), len(b)
}

// gatherer returns a closure that has its variables by value and by reference.
//
//go:noinline
func gatherer(prefix string, step int) func(int) string {
	total := step
	return func(k int) string {
		total += k * step
		if total > 100 {
			return prefix
		}
		return prefix[:1]
	}
}

func main() {
	x := 3
	n := &node{Value: 1}
	sum := add(42, 13)
	g, h := sizes(1, 2, 3, 4, true, 5)
	s, _ := text("hello", 3)
	l, b := slices([]byte("abc"), []string{s})
	f, i := floats(1.5, 2, 2.5)
	_, _, _, _, _, _, _, _, _, j := many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	k, _ := spill(1, 2, 3, 4, 5, 6, 7, list, 8)
	m, p := structs(point{1, 2}, mixed{true, 2, 1.5, &x}, n)
	a, _ := arrays([0]int{}, [1]string{"one"}, [2]int32{4, 5}, 6, single{7})
	_, o := zero(empty{}, 5, empty{})
	q := blank("a", 1, 2, "b")
	r := complexes(complex(1, 2), complex(3, 4), 5)
	t, _ := references(table, make(chan int, 2), nil, failure, n, 8, nil)
	u, v := units(time.Second, time.Now(), 36.6)
	w, _ := ordered(1, 2, 3, "x", true)
	nothing()
	sum += variadic("%d", 1, 2) + int(p.Sum()) + len(n.Name()) + p.Blank(1, 2) + len(gatherer("ab", 2)(3)) + generic()
	sum += int(g) + int(h) + l + len(b) + int(f) + i + j + k + int(m.I) + int(a[0]) + o + q + int(real(r)) + int(u) + int(v) + w + cfg.Limits.Max + int(small[1])
	if t != nil || sum == 0 || counter == 0 {
		os.Exit(1)
	}
}
