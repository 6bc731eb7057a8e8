// Command asked calls functions whose arguments have what is asked for by longer paths: what is in
// interfaces, elements of maps, constants, and what is so many bytes from where a pointer leads to.
//
// Each function is called once for each number from 0 to 19, which tells what it is given. With an
// argument, whatever it is, that waits for a line on standard input, which it answers when all is done, and the end for
// the end of that.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

type named interface {
	name() string
}

type box struct {
	pad    [2]int
	status int
	label  string
}

func (b *box) name() string { return b.label }

type tag string

func (t tag) name() string { return string(t) }

// held takes a *box of status n and label "box N" for even numbers, else the tag "tag N", and as any
// the other.
//
//go:noinline
func held(n int, x named, any interface{}) { used += n }

// found takes maps of n elements: "k0" to 0, "k1" to 1 …, and likewise to []string{"v0"} …, and from
// -n to a box of status n.
//
//go:noinline
func found(n int, numbers map[string]int, texts map[string][]string, boxes map[int]*box, large map[string][20]int) {
	used += n
}

type state int

const (
	idle state = iota
	busy
	done
)

type level uint8

const highest level = 255

// changed takes the state n%5, and the highest level for even numbers.
//
//go:noinline
func changed(n int, s state, l level) { used += n }

type deep struct {
	number int
	_      int
	to     *deeper
}

type deeper struct {
	_    [7]int
	text string
	list []int32
}

// fourth takes a pointer to a pointer to "text N" and {N, -N}, nil for 3.
//
//go:noinline
func fourth(n, b, c int, d *deep) string {
	used += n + b + c
	return fmt.Sprint("result ", n)
}

var (
	used  int
	boxes             = map[string]*box{"a": {status: 3}}
	thing interface{} = &box{label: "kept"}
)

// failed takes an error that wraps another for even numbers.
//
//go:noinline
func failed(n int, err error) { used += n }

func main() {
	if len(os.Args) > 1 {
		fmt.Println("ready")
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		defer in.ReadString(0)
		defer fmt.Println("done")
	}
	used += len(boxes) + len(fmt.Sprint(thing))
	for n := 0; n < 20; n++ {
		var even, odd named = &box{status: n, label: fmt.Sprint("box ", n)}, tag(fmt.Sprint("tag ", n))
		if n%2 == 1 {
			even, odd = odd, even
		}
		held(n, even, odd)
		numbers, texts, boxes, large := make(map[string]int), make(map[string][]string), make(map[int]*box), make(map[string][20]int)
		for i := 0; i < n; i++ {
			key := fmt.Sprint("k", i)
			numbers[key], texts[key], boxes[-i], large[key] = i, []string{fmt.Sprint("v", i)}, &box{status: i}, [20]int{i}
		}
		found(n, numbers, texts, boxes, large)
		changed(n, state(n%5), level(255-n%2))
		d := &deep{number: n, to: &deeper{text: fmt.Sprint("text ", n), list: []int32{int32(n), int32(-n)}}}
		if n == 3 {
			d = nil
		}
		fourth(n, -n, 7, d)
		err := errors.New("plain")
		if n%2 == 0 {
			err = &os.PathError{Op: "open", Path: fmt.Sprint("/", n), Err: err}
		}
		failed(n, err)
	}
}
