// Command generic calls methods of generic types, whose code is compiled once for all types of one shape. It needs Go
// 1.18.
package main

import "fmt"

type user struct {
	Name string
	Age  int
}

type pile[T any] struct {
	items []T
	n     int
}

//go:noinline
func (p *pile[T]) size() int { return p.n }

//go:noinline
func (p *pile[T]) push(x T, n int) {
	p.items = append(p.items, x)
	p.n += n
	length(p.items)
}

//go:noinline
func (p pile[T]) first() T { return p.items[0] }

type keyed[K comparable, V fmt.Stringer] struct {
	last  K
	next  *keyed[K, V]
	count uint16
}

//go:noinline
func (k *keyed[K, V]) put(key K, v V) string {
	k.last = key
	k.count++
	length([]K{key})
	return v.String()
}

func (u *user) String() string { return u.Name }

//go:noinline
func length[T any](l []T) int { return len(l) }

func main() {
	people := &pile[*user]{}
	people.push(&user{"bob", 42}, 3)
	numbers := &pile[int]{}
	numbers.push(7, 2)
	people.size()
	numbers.size()
	people.first()
	numbers.first()
	k := &keyed[string, *user]{last: "none"}
	k.put("one", &user{"eve", 1})
}
