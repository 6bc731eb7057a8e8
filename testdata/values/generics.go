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
		target{name: "main.keep[*uint8]", fn: heldPerson, params: "b a list to"},
		target{name: "main.deepest[*uint8]", fn: nestedPerson, params: "b p v"},
		target{name: "main.(*box[*uint8]).put", fn: putPerson, params: "b v"},
		target{name: "main.box[*uint8].get", fn: getPerson, params: "b n"},
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

//go:noinline
func (b box[T]) get(n int) (T, box[T]) { return b.Value, b }

// keep has pointers of a type parameter's type in all that holds values.
//
//go:noinline
func keep[T any](b box[T], a [1]T, list []T, to *T) (box[T], [1]T, []T, *T) {
	return b, a, list, to
}

//go:noinline
func deepest[T any](b box[box[T]], p *box[T], v struct{ V T }) (box[box[T]], T) { return b, v.V }

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

//go:noinline
func heldPerson(b box[*person], a [1]*person, list []*person, to **person) (box[*person], [1]*person, []*person, **person) {
	return keep(b, a, list, to)
}

//go:noinline
func nestedPerson(b box[box[*person]], p *box[*person], v struct{ V *person }) (box[box[*person]], *person) {
	return deepest(b, p, v)
}

//go:noinline
func putPerson(b *box[*person], v *person) (*person, int) { return b.put(v) }

//go:noinline
func getPerson(b box[*person], n int) (*person, box[*person]) { return b.get(n) }

// pack spells its interface as any.
//
//go:noinline
func pack(v any, list []any) (any, []any) { return len(list), []any{v} }
