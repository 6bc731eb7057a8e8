// Command inlined has a function that the compiler puts into its two callers.
package main

import "os"

var calls int

func grow(list []int, n int) []int {
	calls += n
	return append(list, n)
}

//go:noinline
func first(list []int) int { return len(grow(list, 1)) }

//go:noinline
func second(list []int) int { return len(grow(list, 2)) }

func main() {
	list := make([]int, len(os.Args))
	os.Exit(first(list) - second(list))
}
