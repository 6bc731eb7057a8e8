package main

import (
	"runtime"
	"unsafe"
)

// fill writes all of a buffer, which therefore has to exist.
//
//go:noinline
func fill(buf []byte, n int) int {
	for i := range buf {
		buf[i] = byte(n + i)
	}
	return len(buf)
}

// frame600 compares SP minus its frame with the stack guard.
//
//go:noinline
func frame600(n int) int {
	var buf [600]byte
	return fill(buf[:], n) + int(buf[n%600])
}

// frame6k has a frame so large that the check guards against wrap-around.
//
//go:noinline
func frame6k(n int) int {
	var buf [6144]byte
	return fill(buf[:], n) + int(buf[n%6144])
}

// frame70k does not fit any stack a new goroutine may have got.
//
//go:noinline
func frame70k(n int) int {
	var buf [70000]byte
	return fill(buf[:], n) + int(buf[n%70000])
}

func frames(b *ledger) {
	b.work(onGoroutines(31, frame600))
	b.work(onGoroutines(37, frame6k))
	b.work(onGoroutines(41, frame70k))
	b.returned("main.frame600", 31)
	b.returned("main.frame6k", 37)
	b.returned("main.frame70k", 41)
	b.returned("main.fill", 31+37+41)
}

// recurse calls itself n times and grows the stack on the way.
//
//go:noinline
func recurse(n int) int {
	var pad [24]int
	pad[n%24] = n
	if n == 0 {
		return 1
	}
	return recurse(n-1) + pad[n%24] + pad[(n+1)%24]
}

// descend is recurse with frames of a kilobyte.
//
//go:noinline
func descend(n int) int {
	var page [1024]byte
	page[n%1024] = byte(n)
	if n == 0 {
		return 1
	}
	return descend(n-1) + int(page[n%1024]) + int(page[(n+1)%1024])
}

// growsBelow is moved with the stack that its callees make grow.
//
//go:noinline
func growsBelow(n int) (result int, moved bool) {
	var mark int
	before := uintptr(unsafe.Pointer(&mark))
	result = descend(n)
	return result, uintptr(unsafe.Pointer(&mark)) != before
}

// shrinks is moved a second time, when the collector halves the stack that a
// deep call has left mostly unused. It takes the collector some cycles at most.
//
//go:noinline
func shrinks(n int) (result int, moved bool) {
	var mark int
	result = descend(n)
	before := uintptr(unsafe.Pointer(&mark))
	for cycle := 0; cycle < 5 && uintptr(unsafe.Pointer(&mark)) == before; cycle++ {
		runtime.GC()
	}
	return result, uintptr(unsafe.Pointer(&mark)) != before
}

func growth(b *ledger) {
	b.work(onGoroutines(17, func(int) int { return recurse(100) }))
	b.returned("main.recurse", 17*101)

	for _, c := range []struct {
		name       string
		f          func(int) (int, bool)
		goroutines int
	}{
		{"main.growsBelow", growsBelow, 7},
		{"main.shrinks", shrinks, 3},
	} {
		b.moved(c.name, 0)
		f, name := c.f, c.name
		b.work(onGoroutines(c.goroutines, func(i int) int {
			result, moved := f(60 + i)
			b.returned("main.descend", 60+i+1)
			b.returned(name, 1)
			if moved {
				b.moved(name, 1)
			}
			return result
		}))
	}
}
