package main

import "runtime"

// nilLeaf may fault in the very instruction that a probe at its entry replaces.
//
//go:noinline
func nilLeaf(p *point) int {
	switch {
	}
	return p.y
}

// nilFrame may fault behind its stack check.
//
//go:noinline
func nilFrame(p *point) int { return leaf(p.y, p.x) + 1 }

//go:noinline
func catchFault(f func(*point) int, p *point) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = len(r.(runtime.Error).Error())
		}
	}()
	return f(p)
}

func faults(b *ledger) {
	sum := 0
	for i := 0; i < 67; i++ {
		var p *point
		if i%2 == 0 {
			p = &point{i, 2 * i}
		}
		sum += catchFault(nilLeaf, p) + catchFault(nilFrame, p)
	}
	for _, name := range []string{"main.nilLeaf", "main.nilFrame"} {
		b.returned(name, 34)
		b.unwound(name, 33)
	}
	b.returned("main.catchFault", 2*67)
	b.returned("main.catchFault.func1", 2*67)
	b.returned("main.leaf", 34)
	b.work(sum)
}

// catchNested recovers the panic that the deferred call of a panicking
// function has thrown in its turn.
//
//go:noinline
func catchNested(f func(int) int, n int) (result int) {
	defer func() { result = leaf(recover().(int), 4) }()
	return f(n)
}

//go:noinline
func throwTwice(n int) int {
	defer throwAgain(n)
	if n >= 0 {
		panic(n)
	}
	return n
}

//go:noinline
func throwAgain(n int) {
	if n >= 0 {
		panic(n + 1000)
	}
}

// throwCalmly is unwound by its panic, during which calmDown throws and
// recovers a panic of its own, and completes.
//
//go:noinline
func throwCalmly(n int) int {
	defer calmDown(n)
	if n >= 0 {
		panic(n)
	}
	return n
}

//go:noinline
func calmDown(n int) {
	defer func() { leaf(recover().(int), 5) }()
	if n >= 0 {
		panic(n + 2000)
	}
}

func nestedPanics(b *ledger) {
	sum := 0
	for i := 0; i < 43; i++ {
		sum += catchNested(throwTwice, i) + catchNested(throwCalmly, i)
	}
	b.returned("main.catchNested", 2*43)
	b.returned("main.catchNested.func1", 2*43)
	b.unwound("main.throwTwice", 43)
	b.unwound("main.throwAgain", 43)
	b.unwound("main.throwCalmly", 43)
	b.returned("main.calmDown", 43)
	b.returned("main.calmDown.func1", 43)
	b.returned("main.leaf", 3*43)
	b.work(sum)
}
