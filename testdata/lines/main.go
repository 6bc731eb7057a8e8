// Command lines has functions whose source lines tests look for: lines with a marker
// "mark: NAME" behind them. It builds with every Go that has modules or not.
package main

import "os"

func main() {
	s := &store{items: make([]int, 8)}
	sum := 0
	for i := range os.Args {
		sum += s.put(i, i) // mark: put
	}
	s.fill(3)
	sum += s.frame(len(os.Args))
	sum += once(s.items)(2)
	if sum == 1<<20 {
		os.Exit(1)
	}
}

// once returns a function that the compiler can't see through.
//
//go:noinline
func once(items []int) func(int) int {
	if len(items) > 100 {
		return nil
	}
	return double // mark: value
}
