package main

var deferredSum int

//go:noinline
func deferred(n int) { deferredSum += leaf(n, 7) }

// deferOpen has deferred calls that compilers since Go 1.14 make directly at
// the return, one of them conditional.
//
//go:noinline
func deferOpen(n int) int {
	defer deferred(n)
	if n%2 == 0 {
		defer deferred(n + 1)
	}
	return leaf(n, n)
}

// deferLoop has deferred calls that only the runtime can keep.
//
//go:noinline
func deferLoop(n int) int {
	for i := 0; i < n; i++ {
		defer deferred(i)
	}
	return n
}

// deferClosure has a deferred closure that changes the result.
//
//go:noinline
func deferClosure(n int) (result int) {
	defer func() { result += leaf(result, n) }()
	return leaf(n, n)
}

func defers(b *ledger) {
	sum := 0
	for i := 0; i < 103; i++ {
		sum += deferOpen(i) + deferClosure(i)
	}
	b.returned("main.deferOpen", 103)
	b.returned("main.deferred", 103+52)
	b.returned("main.deferClosure", 103)
	b.returned("main.deferClosure.func1", 103)
	b.returned("main.leaf", 103+103+52+2*103)
	b.work(sum)

	for i := 0; i < 29; i++ {
		sum += deferLoop(5)
	}
	b.returned("main.deferLoop", 29)
	b.returned("main.deferred", 29*5)
	b.returned("main.leaf", 29*5)
	b.work(sum + deferredSum)
	deferredSum = 0
}
