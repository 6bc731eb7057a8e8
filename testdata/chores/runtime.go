package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"time"
)

//go:noinline
func spawn(n int, done *sync.WaitGroup) {
	for range n {
		go done.Done()
	}
}

//go:noinline
func spawnOne(done *sync.WaitGroup) {
	go func() { done.Done() }()
}

// goroutines starts 23 in one place and 7 in another.
func goroutines() error {
	var done sync.WaitGroup
	done.Add(30)
	spawn(23, &done)
	for range 7 {
		spawnOne(&done)
	}
	done.Wait()
	note("main.spawn", 23)
	note("main.spawnOne", 7)
	return nil
}

type custom struct{ code int }

//go:noinline
func recovered(value any) {
	defer func() {
		if v := recover(); v != nil {
			note(fmt.Sprintf("%T", v))
		}
	}()
	fail(value)
}

//go:noinline
func fail(value any) { panic(value) }

//go:noinline
func at(items []int, i int) int { return items[i] }

// panics recovers from seven panics; two deferred functions find nothing to recover.
func panics() error {
	for range 3 {
		recovered("out of cheese")
	}
	recovered(errors.New("no such key"))
	recovered(42)
	recovered(custom{7})
	func() {
		defer func() {
			if v := recover(); v != nil {
				note(fmt.Sprintf("%T", v))
			}
		}()
		at([]int{1, 2}, 5)
	}()
	for range 2 {
		func() { defer func() { _ = recover() }() }()
	}
	return nil
}

//go:noinline
func locked(mu *sync.Mutex, done *sync.WaitGroup) {
	mu.Lock()
	mu.Unlock()
	done.Done()
}

// mutexes lets five goroutines wait for a mutex that is not released before all of them do.
func mutexes() error {
	var mu sync.Mutex
	var done sync.WaitGroup
	done.Add(5)
	mu.Lock()
	for range 5 {
		go locked(&mu, &done)
	}
	stacks := make([]byte, 1<<20)
	for waiting := 0; waiting < 5; time.Sleep(time.Millisecond) {
		waiting = strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "[sync.Mutex.Lock]:")
	}
	const held = 20 * time.Millisecond
	time.Sleep(held)
	mu.Unlock()
	done.Wait()
	note("main.locked", 5, held.Nanoseconds())
	return nil
}

// collections collects garbage eleven times.
func collections() error {
	before := pauses()
	for range 11 {
		runtime.GC()
	}
	after := pauses()
	// PauseNs is of each of the last 256 collections.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	note("pauses", after-before)
	for n := stats.NumGC - 11; n < stats.NumGC; n++ {
		note("paused", stats.PauseNs[n%256])
	}
	return nil
}

// pauses is how often garbage collection has stopped the world.
func pauses() (n uint64) {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	for _, count := range sample[0].Value.Float64Histogram().Counts {
		n += count
	}
	return n
}
