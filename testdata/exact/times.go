package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// spin computes for tens of milliseconds without a call, and so without a
// point at which Go before 1.14 could preempt it.
//
//go:noinline
func spin(seed uint32, n int) int {
	for i := 0; i < n; i++ {
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
	}
	return int(seed)
}

func preemption(b *ledger) {
	const stop = 1
	var state int32
	stopped := make(chan bool)
	go func() {
		for atomic.LoadInt32(&state) != stop {
			runtime.GC()
		}
		stopped <- true
	}()
	sum := 0
	for i := 0; i < 5; i++ {
		sum += spin(uint32(i+1), 20000003)
	}
	b.returned("main.spin", 5)
	b.work(sum)
	atomic.StoreInt32(&state, stop)
	<-stopped
}

// sleep5 sleeps for five milliseconds and returns how long that took.
//
//go:noinline
func sleep5() int64 {
	begin := time.Now()
	time.Sleep(5 * time.Millisecond)
	return int64(time.Now().Sub(begin))
}

// busy computes for about a microsecond and returns how long that took.
//
//go:noinline
func busy(seed uint32) (result int, ns int64) {
	begin := time.Now()
	for i := 0; i < 499; i++ {
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
	}
	return int(seed), int64(time.Now().Sub(begin))
}

func timings(b *ledger) {
	for i := 0; i < 23; i++ {
		begin := time.Now()
		inner := sleep5()
		b.lasted("main.sleep5", inner, int64(time.Now().Sub(begin)))
	}
	b.returned("main.sleep5", 23)

	sum := 0
	for i := 0; i < 5003; i++ {
		begin := time.Now()
		result, inner := busy(uint32(i + 1))
		b.lasted("main.busy", inner, int64(time.Now().Sub(begin)))
		sum += result
	}
	b.returned("main.busy", 5003)
	b.work(sum)
}
