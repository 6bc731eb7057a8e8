package main

// leaf has no frame and no stack check.
//
//go:noinline
func leaf(a, b int) int {
	switch {
	}
	return a*3 + b
}

// nosplitFrame has a frame, but no stack check.
//
//go:nosplit
//go:noinline
func nosplitFrame(n int) int {
	var table [12]int
	for i := range table {
		table[i] = i * n
	}
	return table[uint(n)%12] + table[uint(n+5)%12]
}

// returns leaves through one of several RET instructions.
//
//go:noinline
func returns(n int) int {
	switch n {
	case 0:
		return leaf(n, 17)
	case 1:
		return 23
	case 2:
		return leaf(n, 42) - 1
	case 3:
		return leaf(leaf(n, 51), n)
	case 4:
		return n * n
	}
	return -n
}

func leaves(b *ledger) {
	sum := 0
	for i := 0; i < 20011; i++ {
		sum += leaf(i, sum)
	}
	b.returned("main.leaf", 20011)
	b.work(sum)

	for i := 0; i < 1009; i++ {
		sum += nosplitFrame(i)
	}
	b.returned("main.nosplitFrame", 1009)
	b.work(sum)

	for n, times := range [...]int{2, 3, 5, 7, 11, 13} {
		for i := 0; i < times; i++ {
			sum += returns(n)
		}
		b.returned("main.returns", times)
	}
	b.returned("main.leaf", 2+5+7*2)
	b.work(sum)
}
