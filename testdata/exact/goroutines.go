package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var (
	partings    uint64
	firstFrames sync.WaitGroup
)

// parting is deferred by functions that runtime.Goexit takes down.
//
//go:noinline
func parting(n int) { atomic.AddUint64(&partings, uint64(leaf(n, 6))) }

//go:noinline
func goexitOuter(n int) int {
	defer parting(n)
	return goexitMiddle(n) + 1
}

//go:noinline
func goexitMiddle(n int) int { return goexitInner(n) + 1 }

//go:noinline
func goexitInner(n int) int {
	defer parting(n + 1)
	if n >= 0 {
		runtime.Goexit()
	}
	return n
}

// firstFrame is the function a goroutine starts with, and is unwound.
//
//go:noinline
func firstFrame() {
	defer firstFrames.Done()
	goexitMiddle(3)
}

func goexits(b *ledger) {
	var group sync.WaitGroup
	group.Add(13)
	for i := 0; i < 13; i++ {
		go func(i int) {
			defer group.Done()
			goexitOuter(i)
		}(i)
	}
	group.Wait()
	b.unwound("main.goexitOuter", 13)
	b.returned("main.parting", 13)
	b.returned("main.leaf", 13)

	firstFrames.Add(5)
	for i := 0; i < 5; i++ {
		go firstFrame()
	}
	firstFrames.Wait()
	b.unwound("main.firstFrame", 5)
	b.unwound("main.goexitMiddle", 13+5)
	b.unwound("main.goexitInner", 13+5)
	b.returned("main.parting", 13+5)
	b.returned("main.leaf", 13+5)
	b.work(int(atomic.SwapUint64(&partings, 0)))
}

// wander is left on another thread than it was entered on, more often than not.
//
//go:noinline
func wander(id, lap int) int {
	if (id+lap)%5 == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	hops := hop(id, lap)
	runtime.Gosched()
	return hops + hop(id, lap+1)
}

//go:noinline
func hop(id, lap int) int {
	time.Sleep(time.Duration(100+(id*37+lap*211)%900) * time.Microsecond)
	return id*1000 + lap
}

func wanderers(b *ledger) {
	b.work(onGoroutines(64, func(id int) int {
		sum := 0
		for lap := 0; lap < 7; lap++ {
			sum += wander(id, lap)
		}
		return sum
	}))
	b.returned("main.wander", 64*7)
	b.returned("main.hop", 64*7*2)
}

// enterKernel hands its thread to the kernel twice.
//
//go:noinline
func enterKernel(zero *os.File, buf []byte) int {
	pid := os.Getpid()
	n, err := zero.Read(buf)
	if err != nil || pid <= 0 {
		return -1
	}
	return n
}

func syscalls(b *ledger) {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		panic(err)
	}
	defer zero.Close()
	buf := make([]byte, 37)
	sum := 0
	for i := 0; i < 211; i++ {
		sum += enterKernel(zero, buf)
	}
	b.returned("main.enterKernel", 211)
	b.work(sum)
}

// blockForever is open when the program ends. It has no RET instruction.
//
//go:noinline
func blockForever(entered chan<- int, n int) {
	entered <- n
	select {}
}

func blocked(b *ledger) {
	entered := make(chan int)
	for i := 0; i < 3; i++ {
		go func(i int) { blockForever(entered, i) }(i)
	}
	b.work(<-entered + <-entered + <-entered)
	b.open("main.blockForever", 3)
}
