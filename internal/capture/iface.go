package capture

import (
	"reflect"
	"sync"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// payload is what is fetched of an interface's value. Its type is not known beforehand:
// some words, and what a string among them would point to, serve the usual ones.
type payload struct {
	typ leaf // address of the dynamic type, where the first word is an itab
	// words are so many words of what the data word points to, from word at on; those of a
	// string in the first, second and third word are texts[0] to [2].
	at, words int
	texts     [3]int // first word each, -1 for none
	textWords int
	// errnos are what the fourth and the sixth word point to: the numbers in the Err of a
	// *os.SyscallError and of a *fs.PathError.
	errnos [2]leaf
	// nodes are the values that it has been, by their types.
	nodes sync.Map
	// within: it is in the value of another interface, and nothing more of it is fetched but
	// the number in errnos[0].
	within bool
}

// errnoWords are those words.
var errnoWords = [2]int64{3, 5}

// A *fs.PathError, Op and Path string and Err error, has six words.
const payloadWords = 6

// dynamic plans an interface. Of an error, and of an empty interface, the value is fetched;
// of others its type only.
func (n *node) dynamic(b *Builder, s source) {
	types := n.follow(b, s, nil)
	p := &payload{typ: none, texts: [3]int{-1, -1, -1}, errnos: [2]leaf{none, none}}
	n.iface = p
	if n.typ.Methods {
		// itab is inter, type, … (runtime/runtime2.go, internal/abi/iface.go).
		p.typ = n.scalar(b, types.at(8), 8, false)
	}
	if n.why != "" {
		return
	}
	data, l := b.follow(s.at(8), nil)
	n.imag, n.why = l, data.why
	isError := IsError(n.typ)
	if n.why != "" || n.typ.Methods && !isError {
		return
	}
	var why string
	if p.at, why = b.array(data, payloadWords); why != "" {
		return
	}
	p.words, p.textWords = payloadWords, b.textWords()
	// behind is what a word that is fetched already, in an array, points to.
	behind := func(word int64) (to source) {
		to.inner, _, to.why = data.at(8*word).text(b, 8)
		return to
	}
	for i := range p.texts {
		// An error may be &MyError{Code, Message}. What else an interface holds is mostly
		// a string or a number, and then what follows is no pointer: each word that is
		// tried costs a fault.
		if i > 0 && !isError {
			return
		}
		if p.texts[i], why = b.array(behind(int64(i)), p.textWords); why != "" {
			p.texts[i] = -1
			return
		}
	}
	for i, word := range errnoWords {
		if p.errnos[i], why = b.scalar(behind(word), 8, false); why != "" {
			p.errnos[i] = none
		}
	}
}

// isErrno is the type whose value the Err of a *fs.PathError or *os.SyscallError mostly holds.
func isErrno(t *gotype.Type) bool { return t.Name == "syscall.Errno" }

// IsError tells whether a type is the interface error, or what generic code has for it.
func IsError(t *gotype.Type) bool {
	return t.Kind == reflect.Interface && (t.Name == "error" || t.Name == "go.shape.interface { Error() string }")
}
