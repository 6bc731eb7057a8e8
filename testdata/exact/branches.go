package main

// branchFirst faults nowhere before its first branch.
//
//go:noinline
func branchFirst(p *point) int {
	switch {
	}
	if p == nil {
		return -1
	}
	return p.x
}

// faultBehind may fault behind its first branch.
//
//go:noinline
func faultBehind(p *point, n int) int {
	switch {
	}
	if n == 0 {
		return 1
	}
	return p.y
}

// faultBefore may fault before it.
//
//go:noinline
func faultBefore(p *point, n int) int {
	switch {
	}
	if p.x > n {
		return n
	}
	return p.y
}

// loopFirst begins with what its loop goes back to.
//
//go:noinline
func loopFirst(n int) int {
	switch {
	}
	for n > 3 {
		n -= 3
	}
	return n
}

// loopSwitch goes back through a switch, to near its start.
//
//go:noinline
func loopSwitch(n int) int {
	switch {
	}
	for n *= 3; ; {
		switch n & 15 {
		case 0:
			return n
		case 1:
			n ^= 7
		case 2:
			n += 6
		case 3:
			n -= 3
		case 4:
			n += 12
		case 5, 6, 7, 8:
			n -= 4
		case 9:
			n *= 16
		case 10:
			n /= 2
		default:
			n++
		}
	}
}

//go:noinline
func catchBranch(f func(*point, int) int, p *point, n int) (result int) {
	defer func() {
		if recover() != nil {
			result = n
		}
	}()
	return f(p, n)
}

func branches(b *ledger) {
	sum := 0
	for i := 0; i < 61; i++ {
		var p *point
		if i%2 == 0 {
			p = &point{i, 2 * i}
		}
		sum += branchFirst(p) + loopFirst(i) + loopSwitch(i) + catchBranch(faultBehind, p, i%3) + catchBranch(faultBefore, p, i)
	}
	for _, name := range []string{"main.branchFirst", "main.loopFirst", "main.loopSwitch"} {
		b.returned(name, 61)
	}
	// p is nil in 30 of them, of which 10 don't ask for it.
	b.returned("main.faultBehind", 61-20)
	b.unwound("main.faultBehind", 20)
	b.returned("main.faultBefore", 31)
	b.unwound("main.faultBefore", 30)
	b.returned("main.catchBranch", 2*61)
	b.returned("main.catchBranch.func1", 2*61)
	b.work(sum)
}
