// Command allocs allocates objects of many sizes in main.work, and prints how many the runtime has counted
// meanwhile, and how many bytes were asked for. It compiles with Go 1.5 to 1.27.
package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

var (
	sink  unsafe.Pointer
	slice []byte
)

// work allocates 30 objects, and slices of 1 to n bytes.
func work(n int) (bytes int) {
	put := func(p unsafe.Pointer, size int) {
		sink = p
		bytes += size
	}
	put(unsafe.Pointer(new(byte)), 1)
	put(unsafe.Pointer(new(int64)), 8)
	put(unsafe.Pointer(new([3]int32)), 12)
	put(unsafe.Pointer(new([2]int64)), 16)
	put(unsafe.Pointer(new([3]int64)), 24)
	put(unsafe.Pointer(new([4]int64)), 32)
	put(unsafe.Pointer(new([5]int64)), 40)
	put(unsafe.Pointer(new([6]int64)), 48)
	put(unsafe.Pointer(new([7]int64)), 56)
	put(unsafe.Pointer(new([8]int64)), 64)
	put(unsafe.Pointer(new([9]int64)), 72)
	put(unsafe.Pointer(new([10]int64)), 80)
	put(unsafe.Pointer(new([11]int64)), 88)
	put(unsafe.Pointer(new([100]int64)), 800)
	put(unsafe.Pointer(new([9000]int64)), 72000)
	put(unsafe.Pointer(new(*byte)), 8)
	put(unsafe.Pointer(new([2]*byte)), 16)
	put(unsafe.Pointer(new([3]*byte)), 24)
	put(unsafe.Pointer(new([4]*byte)), 32)
	put(unsafe.Pointer(new([5]*byte)), 40)
	put(unsafe.Pointer(new([6]*byte)), 48)
	put(unsafe.Pointer(new([7]*byte)), 56)
	put(unsafe.Pointer(new([8]*byte)), 64)
	put(unsafe.Pointer(new([9]*byte)), 72)
	put(unsafe.Pointer(new([10]*byte)), 80)
	put(unsafe.Pointer(new([11]*byte)), 88)
	put(unsafe.Pointer(new([60]*byte)), 480)
	put(unsafe.Pointer(new([65]*byte)), 520)
	put(unsafe.Pointer(new([100]*byte)), 800)
	put(unsafe.Pointer(new([9000]*byte)), 72000)
	for i := 1; i <= n; i++ {
		slice = make([]byte, i)
		bytes += i
	}
	return bytes
}

func main() {
	debug.SetGCPercent(-1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	bytes := 0
	for i := 0; i < 10; i++ {
		bytes += work(100)
	}
	runtime.ReadMemStats(&after)
	fmt.Println(after.Mallocs-before.Mallocs, bytes)
}
