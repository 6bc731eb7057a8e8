//go:build go1.18
// +build go1.18

package main

func init() {
	targets = append(targets,
		target{name: "main.swap[int,string]", fn: swapIntString, params: "a b"},
		target{name: "main.swap[string,int]", fn: swapStringInt, params: "a b"},
		target{name: "main.first[struct { ID int32; Name string }]", fn: firstPerson, params: "list other"},
		target{name: "main.(*box[int]).put", fn: putInt, params: "b v"},
		target{name: "main.(*box[string]).put", fn: putString, params: "b v"},
		target{name: "main.pack", fn: pack, params: "v list"},
	)
}

//go:noinline
func swap[A, B any](a A, b B) (B, A) { return b, a }

//go:noinline
func first[T any](list []T, other T) (T, bool) {
	if len(list) > 0 {
		return list[0], true
	}
	return other, false
}

type box[T any] struct {
	Value T
	Count int
}

//go:noinline
func (b *box[T]) put(v T) (T, int) {
	if b == nil {
		return v, 0
	}
	return b.Value, b.Count + 1
}

// The stubs call the instances themselves: a function value would lead to one more
// function, which has the instance's name and hands the dictionary over.
//
//go:noinline
func swapIntString(a int, b string) (string, int) { return swap(a, b) }

//go:noinline
func swapStringInt(a string, b int) (int, string) { return swap(a, b) }

//go:noinline
func firstPerson(list []person, other person) (person, bool) { return first(list, other) }

//go:noinline
func putInt(b *box[int], v int) (int, int) { return b.put(v) }

//go:noinline
func putString(b *box[string], v string) (string, int) { return b.put(v) }

// pack spells its interface as any.
//
//go:noinline
func pack(v any, list []any) (any, []any) { return len(list), []any{v} }
