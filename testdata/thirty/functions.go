package main

import (
	"errors"
	"fmt"
)

type args = []interface{}

// targets are in the order in which they are called.
var targets = []target{
	{"main.add", add, "a b", "", func(n int) args { return args{42 + n, 13} }},
	{"main.bytes8", bytes8, "a b", "", func(n int) args { return args{int8(-n), uint8(n + 250)} }},
	{"main.shorts", shorts, "a b", "", func(n int) args { return args{int16(-300 - n), uint16(65535 - n)} }},
	{"main.words", words, "a b", "", func(n int) args { return args{int32(-70000 - n), uint32(4000000000 + n)} }},
	{"main.longs", longs, "a b", "", func(n int) args { return args{int64(-n) << 40, uint64(n)<<60 + 7} }},
	{"main.both", both, "a b", "", func(n int) args { return args{n%2 == 0, n%3 == 0} }},
	{"main.address", address, "p", "", func(n int) args { return args{uintptr(0xc000000000 + n)} }},
	{"main.letter", letter, "r", "", func(n int) args { return args{rune('a' + n%26)} }},
	{"main.greet", greet, "name", "", func(n int) args { return args{fmt.Sprint("bob ", n)} }},
	{"main.concat", concat, "a b", "joined", func(n int) args { return args{"left", fmt.Sprint("right", n)} }},
	{"main.get", get, "key n", "value err", func(n int) args { return args{"key", n} }},
	{"main.total", total, "list", "", func(n int) args { return args{[]int{1, 2, n}} }},
	{"main.names", names, "list", "", func(n int) args { return args{[]string{"one", fmt.Sprint(n)}} }},
	{"main.tail", tail, "list", "", func(n int) args { return args{[]int32{-1, int32(n), 3, 4}} }},
	{"main.split", split, "s", "head rest", func(n int) args { return args{fmt.Sprint("k=", n)} }},
	{"main.swap", swap, "p", "", func(n int) args { return args{point{n, -n}} }},
	{"main.rename", rename, "p name", "", func(n int) args { return args{person{n, "old"}, "new"} }},
	{"main.grow", grow, "b", "", func(n int) args { return args{box{point{1, 2}, point{n, n + 1}}} }},
	{"main.origin", origin, "p", "", func(n int) args { return args{&point{n, 2}} }},
	{"main.find", find, "id", "", func(n int) args { return args{n} }},
	{"main.next", next, "p", "", func(n int) args { i := n; return args{&i} }},
	{"main.check", check, "err", "", func(n int) args { return args{errors.New(fmt.Sprint("no ", n))} }},
	{"main.mayFail", mayFail, "n", "", func(n int) args { return args{n} }},
	{"main.divide", divide, "a b", "quotient remainder err", func(n int) args { return args{100, n % 4} }},
	{"main.six", six, "a b c d e f", "", func(n int) args { return args{n, n + 1, n + 2, n + 3, n + 4, n + 5} }},
	{"main.twelve", twelve, "a b c d e f g h i j k l", "", func(n int) args { return args{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, n} }},
	{"main.mixed", mixed, "a s b list", "", func(n int) args { return args{int8(n), "mixed", true, []int{n}} }},
	{"main.point.Add", point.Add, "p q", "", func(n int) args { return args{point{1, 2}, point{n, n}} }},
	{"main.(*person).Age", (*person).Age, "p years", "", func(n int) args { return args{&person{n, "kim"}, 5} }},
	{"main.nothing", nothing, "", "", func(n int) args { return args{} }},
}

type point struct{ X, Y int }

type box struct{ Min, Max point }

type person struct {
	ID   int
	Name string
}

var errNone = errors.New("none")

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func bytes8(a int8, b uint8) (uint8, int8) { return b + 1, a - 1 }

//go:noinline
func shorts(a int16, b uint16) (uint16, int16) { return b - 1, a + 1 }

//go:noinline
func words(a int32, b uint32) (uint32, int32) { return b / 2, a * 2 }

//go:noinline
func longs(a int64, b uint64) (uint64, int64) { return b + 1, a - 1 }

//go:noinline
func both(a, b bool) bool { return a && b }

//go:noinline
func address(p uintptr) uintptr { return p + 8 }

//go:noinline
func letter(r rune) rune { return r - 'a' + 'A' }

//go:noinline
func greet(name string) string { return "hi " + name }

//go:noinline
func concat(a, b string) (joined string) { return a + b }

//go:noinline
func get(key string, n int) (value string, err error) {
	if n%2 == 1 {
		return "", errNone
	}
	return key + "!", nil
}

//go:noinline
func total(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

//go:noinline
func names(list []string) []string { return append(list[:1:1], "two") }

//go:noinline
func tail(list []int32) []int32 { return list[1:] }

//go:noinline
func split(s string) (head, rest string) { return s[:1], s[2:] }

//go:noinline
func swap(p point) point { return point{p.Y, p.X} }

//go:noinline
func rename(p person, name string) person { return person{p.ID, name} }

//go:noinline
func grow(b box) box { return box{point{b.Min.X - 1, b.Min.Y - 1}, b.Max} }

//go:noinline
func origin(p *point) *point { return &point{-p.X, -p.Y} }

//go:noinline
func find(id int) *person {
	if id%2 == 1 {
		return nil
	}
	return &person{id, "found"}
}

//go:noinline
func next(p *int) *int { n := *p + 1; return &n }

//go:noinline
func check(err error) bool { return err != nil }

//go:noinline
func mayFail(n int) error {
	if n%2 == 0 {
		return errNone
	}
	return nil
}

//go:noinline
func divide(a, b int) (quotient, remainder int, err error) {
	if b == 0 {
		return 0, 0, errors.New("division by zero")
	}
	return a / b, a % b, nil
}

//go:noinline
func six(a, b, c, d, e, f int) (int, int, int) { return a + b, c + d, e + f }

//go:noinline
func twelve(a, b, c, d, e, f, g, h, i, j, k, l int) int { return a + l }

//go:noinline
func mixed(a int8, s string, b bool, list []int) (bool, []int, string, int8) { return !b, list, s, a }

//go:noinline
func (p point) Add(q point) point { return point{p.X + q.X, p.Y + q.Y} }

//go:noinline
func (p *person) Age(years int) (int, string) { return p.ID + years, p.Name }

//go:noinline
func nothing() {}
