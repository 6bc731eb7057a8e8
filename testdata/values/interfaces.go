package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

func init() {
	targets = append(targets,
		target{name: "main.fail", fn: fail, params: "err n"},
		target{name: "main.open", fn: open, params: "path err", args: (*random).paths},
		target{name: "main.errno", fn: errno, params: "e"},
		target{name: "main.held", fn: held, params: "f"},
		target{name: "main.anything", fn: anything, params: "v"},
		target{name: "main.named", fn: named, params: "s", args: (*random).stringers},
		target{name: "main.count", fn: count, params: "m small"},
		target{name: "main.queue", fn: queue, params: "c done"},
		target{name: "main.apply", fn: apply, params: "f n", args: (*random).functions},
	)
}

var errNegative = errors.New("negative")

// coded and failure are errors that nobody else knows.
type coded int

func (c coded) Error() string { return fmt.Sprint("code ", int(c)) }

type failure struct {
	Text string
	Code int
}

func (f *failure) Error() string { return f.Text }

// wrapped makes an error that wraps another, where Go has such.
var wrapped = func(r *random) error { return errNegative }

func (r *random) err() error {
	switch r.Intn(7) {
	case 0:
		return errNegative
	case 1:
		return errors.New(r.text())
	case 2:
		return wrapped(r)
	case 3:
		return coded(r.bits())
	case 4:
		return &failure{r.text(), int(r.bits())}
	case 5:
		return syscall.Errno(r.Intn(40) + 1)
	}
	return nil
}

//go:noinline
func fail(err error, n int) (int, error) {
	switch n & 3 {
	case 0:
		return 0, err
	case 1:
		return 1, &failure{"of its own", n}
	case 2:
		return 2, syscall.ENOENT
	}
	return 3, nil
}

func (r *random) paths() []interface{} {
	path := r.text()
	return []interface{}{path, &os.PathError{Op: "open", Path: path, Err: syscall.Errno(r.Intn(40) + 1)}}
}

//go:noinline
func open(path string, err error) (*os.File, error) {
	if path == "" {
		return nil, err
	}
	return nil, &os.PathError{Op: "stat", Path: path, Err: syscall.ENOTDIR}
}

//go:noinline
func errno(e syscall.Errno) (syscall.Errno, error) {
	if e == 0 {
		return syscall.EINVAL, nil
	}
	return e >> 1, e & 31
}

// holder has interfaces in a struct.
type holder struct {
	Err error
	Any interface{}
}

//go:noinline
func held(f *holder) holder {
	if f == nil {
		return holder{errNegative, 42}
	}
	return holder{f.Err, nil}
}

func (r *random) any() interface{} {
	switch r.Intn(11) {
	case 0:
		return r.text()
	case 1:
		return int(r.bits())
	case 2:
		return uint8(r.bits())
	case 3:
		return r.Intn(2) == 0
	case 4:
		return r.float()
	case 5:
		return time.Duration(r.bits())
	case 6:
		return point{int8(r.bits()), int8(r.bits())}
	case 7:
		return &padded{A: true, B: int64(r.bits())}
	case 8:
		return (*point)(nil)
	case 9:
		return &list{Value: int(r.bits()), Next: &list{}}
	}
	return nil
}

//go:noinline
func anything(v interface{}) (interface{}, error) {
	switch v := v.(type) {
	case string:
		return v + ".", nil
	case int:
		return v / 2, nil
	case nil:
		return int16(-7), errNegative
	}
	return nil, nil
}

func (r *random) stringers() []interface{} {
	switch r.Intn(3) {
	case 0:
		return []interface{}{person{int32(r.bits()), r.text()}}
	case 1:
		return []interface{}{&person{int32(r.bits()), r.text()}}
	}
	return []interface{}{nil}
}

// named takes an interface that is neither error nor empty.
//
//go:noinline
func named(s fmt.Stringer) (fmt.Stringer, bool) {
	if s == nil {
		return time.Second, false
	}
	return nil, true
}

//go:noinline
func count(m map[string]int, small map[int8]bool) (map[int8]bool, map[string]int) {
	if len(m) > 20 {
		return nil, m
	}
	return small, map[string]int{}
}

//go:noinline
func queue(c chan int, done <-chan struct{}) (chan int, chan<- string) {
	return c, make(chan string, cap(c))
}

func double(n int) int { return 2 * n }
func negate(n int) int { return -n }

func (r *random) functions() []interface{} {
	return []interface{}{[]func(int) int{double, negate, nil}[r.Intn(3)], int(r.bits())}
}

//go:noinline
func apply(f func(int) int, n int) func(int) int {
	switch {
	case f == nil:
		return double
	case n&1 == 0:
		return func(k int) int { return k + n }
	}
	return nil
}
