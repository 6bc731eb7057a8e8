//go:build go1.18
// +build go1.18

package main

type pile[T any] struct{ items []T }

//go:noinline
func (p *pile[T]) push(x T, n int) int {
	p.items = append(p.items, x)
	return len(p.items) + n
}

//go:noinline
func (p pile[T]) first(n int) (x T) {
	if len(p.items) > n {
		x = p.items[n]
	}
	return x
}

//go:noinline
func pick[K comparable, V any](key K, value V, n int) (V, int) {
	m := map[K]V{key: value}
	return m[key], n
}

//go:noinline
func generic() int {
	ints, words := pile[int]{}, pile[string]{}
	_, n := pick("k", 2.5, 3)
	_, m := pick(4, "v", 5)
	return ints.push(1, 2) + words.push("a", 3) + ints.first(0) + len(words.first(0)) + n + m
}
