// Program names has most kinds of functions' names.
package main

import (
	"fmt"

	yaml "github.com/ftgo/ftgo/testdata/names/yaml.v3"
)

type Store struct{ n int }

//go:noinline
func (s *Store) Get(k int) int { fmt.Println(k); return s.n }

//go:noinline
func (s Store) Len() int { fmt.Println(s.n); return s.n }

type KVStore struct{ n int }

//go:noinline
func (s *KVStore) Get(k int) int { fmt.Println(k); return s.n }

type Tree[K comparable, V any] struct{ m map[K]V }

//go:noinline
func (t *Tree[K, V]) Get(k K) V { run(func() { fmt.Println(k) }); return t.m[k] }

//go:noinline
func (t Tree[K, V]) Len() int { return len(fmt.Sprint(t.m)) }

//go:noinline
func Map[T any](x T) T { run(func() { fmt.Println(x) }); return x }

//go:noinline
func run(f func()) { f() }

//go:noinline
func each(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
			fmt.Print()
		}
	}
}

func init() { fmt.Println("init") }

var atStart = func() int { fmt.Println("atStart"); return 1 }

type Lener interface{ Len() int }

//go:noinline
func bound(l Lener) func() int { return l.Len }

func main() {
	s := &Store{1}
	defer s.Get(2)
	go s.Get(2)
	fmt.Println(s.Len(), bound(s)(), bound(*s)(), (&KVStore{}).Get(1), atStart())
	run(func() { run(func() { fmt.Println(s) }) })
	for i := range each(2) {
		defer fmt.Print(i)
	}
	t := &Tree[string, struct {
		A int `json:"a]]b.(*c"`
		B [3]int
	}]{}
	fmt.Println(t.Get("x"), t.Len())
	fmt.Println((&Tree[[2]Store, func(int, ...string) error]{}).Get([2]Store{}) == nil)
	fmt.Println(Map(1), Map("s"), Map(yaml.Decoder{}))
	embedded := struct {
		*Store
		X int
	}{s, 1}
	fmt.Println(bound(embedded)())
	fmt.Println(yaml.Unmarshal(1), (&yaml.Decoder{}).Decode())
}
