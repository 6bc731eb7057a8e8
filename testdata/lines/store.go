package main

type store struct {
	items []int
	count int
}

// at is inlined, also by way of others, and has no code of its own.
func (s *store) at(i int) *int {
	s.count++                       // mark: at
	return &s.items[i%len(s.items)] // mark: at return
}

// double is inlined and has code of its own, too: its value is taken.
func double(n int) int {
	return n * 2 // mark: double
}

//go:noinline
func (s *store) put(i, n int) int {
	*s.at(i) = double(n) // mark: put at
	if s.count > 1000 {  // mark: put if

		// Nothing here.

		s.count = 0 // mark: put reset
	}
	return double(s.count) // mark: put return
}

//go:noinline
func (s *store) fill(n int) {
	for i := 0; i < n; i++ { // mark: fill loop
		*s.at(i) = n // mark: fill at
	}
}

// frame has a stack check on account of its frame, which it must set up first.
//
//go:noinline
func (s *store) frame(n int) int { // mark: frame start
	var buf [300]int // mark: frame buf
	for i := range buf {
		buf[i] = n + i
	}
	return buf[n] + s.put(n, n) // mark: frame return
}
