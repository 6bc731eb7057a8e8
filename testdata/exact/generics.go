//go:build go1.18
// +build go1.18

package main

import (
	"runtime"
	"strings"
)

type pair struct {
	A int
	B float64
}

// number has the shape of int, whose instances it shares.
type number int

//go:noinline
func occurrences[T comparable](list []T, x T) int {
	n := 0
	for _, y := range list {
		if x == y {
			n++
		}
	}
	return n
}

type pile[T any] struct{ items []T }

//go:noinline
func (p *pile[T]) push(x T) int {
	p.items = append(p.items, x)
	return len(p.items)
}

// shape spells the symbol of an instance with one type parameter: Go 1.18 and
// 1.19 number the parameters in the names of their shapes.
func shape(generic, underlying, method string) string {
	if v := runtime.Version(); strings.HasPrefix(v, "go1.18") || strings.HasPrefix(v, "go1.19") {
		underlying += "_0"
	}
	return generic + "[go.shape." + underlying + "]" + method
}

func generics(b *ledger) {
	ints, numbers, words := pile[int]{}, pile[number]{}, pile[string]{}
	sum := 0
	for i := 0; i < 101; i++ {
		sum += ints.push(i%7) + numbers.push(number(i%5)) + words.push("ab"[i%2:])
	}
	b.returned(shape("main.(*pile", "int", ").push"), 2*101)
	b.returned(shape("main.(*pile", "string", ").push"), 101)

	for i := 0; i < 19; i++ {
		sum += occurrences(ints.items, i)
		sum += occurrences(numbers.items, number(i))
	}
	b.returned(shape("main.occurrences", "int", ""), 2*19)
	for i := 0; i < 23; i++ {
		sum += occurrences(words.items, "b")
	}
	b.returned(shape("main.occurrences", "string", ""), 23)
	for i := 0; i < 29; i++ {
		sum += occurrences([]float64{1, 2, 0.5}, float64(i)/2)
	}
	b.returned(shape("main.occurrences", "float64", ""), 29)
	for i := 0; i < 31; i++ {
		sum += occurrences([]pair{{1, 2}, {3, 4.5}}, pair{i, 4.5})
	}
	b.returned(shape("main.occurrences", "struct { A int; B float64 }", ""), 31)
	b.work(sum)
}
