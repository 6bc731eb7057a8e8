package main

// accumulator returns a closure over a variable that both share.
//
//go:noinline
func accumulator(start int) func(int) int {
	total := start
	return func(k int) int {
		total += leaf(total, k)
		return total % 1000003
	}
}

// tripler returns a function literal that captures nothing.
//
//go:noinline
func tripler() func(int) int {
	return func(k int) int { return leaf(k, 0) }
}

func closures(b *ledger) {
	sum := 0
	for i := 0; i < 13; i++ {
		add, triple := accumulator(i), tripler()
		for k := 0; k < 17; k++ {
			sum += add(k) + triple(k)
		}
	}
	b.returned("main.accumulator", 13)
	b.returned("main.accumulator.func1", 13*17)
	b.returned("main.tripler", 13)
	b.returned("main.tripler.func1", 13*17)
	b.returned("main.leaf", 2*13*17)
	b.work(sum)
}
