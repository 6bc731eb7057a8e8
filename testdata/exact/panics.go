package main

// catch recovers what is thrown three frames below: the frames in between are
// unwound, catch itself returns through the code after its deferred call.
//
//go:noinline
func catch(n int) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = leaf(r.(int), 1)
		}
	}()
	return upper(n)
}

//go:noinline
func upper(n int) int { return middle(n) + 1 }

//go:noinline
func middle(n int) int { return lower(n) + 1 }

//go:noinline
func lower(n int) int {
	if n%3 == 0 {
		panic(n)
	}
	return n * 5
}

// throws has no RET instruction at all.
//
//go:noinline
func throws(n int) { panic(n) }

//go:noinline
func catchThrown(n int) (result int) {
	defer func() { result = leaf(recover().(int), 2) }()
	throws(n)
	return -1
}

// ownPanic throws and recovers in the same frame, and so completes.
//
//go:noinline
func ownPanic(n int) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = leaf(r.(int), 3)
		}
	}()
	if n%2 == 0 {
		panic(n)
	}
	return n
}

// plunge throws from the bottom of a recursion that has made the stack grow.
//
//go:noinline
func plunge(n int) int {
	var pad [24]int
	pad[n%24] = n
	if n == 0 {
		panic(n)
	}
	return plunge(n-1) + pad[n%24] + pad[(n+1)%24]
}

//go:noinline
func catchPlunge(n int) (result int) {
	defer func() { result = leaf(recover().(int), n) }()
	return plunge(n)
}

func panics(b *ledger) {
	sum := 0
	for i := 0; i < 101; i++ {
		sum += catch(i)
		b.returned("main.catch", 1)
		b.returned("main.catch.func1", 1)
		for _, name := range []string{"main.upper", "main.middle", "main.lower"} {
			if i%3 == 0 {
				b.unwound(name, 1)
			} else {
				b.returned(name, 1)
			}
		}
	}
	b.returned("main.leaf", 34)
	b.work(sum)

	for i := 0; i < 53; i++ {
		sum += catchThrown(i)
	}
	b.returned("main.catchThrown", 53)
	b.returned("main.catchThrown.func1", 53)
	b.returned("main.leaf", 53)
	b.unwound("main.throws", 53)
	b.work(sum)

	for i := 0; i < 59; i++ {
		sum += ownPanic(i)
	}
	b.returned("main.ownPanic", 59)
	b.returned("main.ownPanic.func1", 59)
	b.returned("main.leaf", 30)
	b.work(sum)

	b.work(onGoroutines(7, func(int) int { return catchPlunge(52) }))
	b.returned("main.catchPlunge", 7)
	b.returned("main.catchPlunge.func1", 7)
	b.returned("main.leaf", 7)
	b.unwound("main.plunge", 7*53)
}
