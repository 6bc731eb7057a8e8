// Command nils calls functions with nil pointers, and with others.
package main

import "flag"

type pair struct {
	number int
	name   string
}

// trouble is an error in whose words pointers are all that may be fetched.
type trouble [6]*[8]int

func (*trouble) Error() string { return "trouble" }

//go:noinline
func bytes(b []byte) int { return called(len(b)) }

//go:noinline
func field(p *pair) int {
	if p == nil {
		return called(0)
	}
	return called(p.number)
}

//go:noinline
func fails(err error) error {
	if called(1) == 0 {
		return nil
	}
	return err
}

//go:noinline
func called(n int) int { return n * 5 }

func main() {
	n := flag.Int("n", 1, "how often each is called")
	flag.Parse()
	text := []byte("text of more than sixty-four bytes, which is all that is fetched of it")
	err, room := new(trouble), new([8]int)
	for i := range err {
		err[i] = room
	}
	for i := 0; i < *n; i++ {
		bytes(text)
		bytes(nil)
		field(&pair{1, "name of more than sixty-four bytes, which is all that is fetched of it"})
		field(&pair{})
		field(nil)
		fails(err)
		fails(nil)
	}
}
