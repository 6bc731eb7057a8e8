package capture

import (
	"reflect"

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
}

// errnoWords are those words.
var errnoWords = [2]int64{3, 5}

// A *fs.PathError, Op and Path string and Err error, has six words.
const payloadWords = 6

// dynamic plans an interface. Of an error, and of an empty interface, the value is fetched;
// of others its type only.
func (b *Builder) dynamic(n *node, s source) {
	types, typ, why := b.follow(s, 0)
	if n.num, n.why = typ, why; why != "" {
		return
	}
	n.iface = &payload{typ: none, texts: [3]int{-1, -1, -1}, errnos: [2]leaf{none, none}}
	if n.typ.Methods {
		// itab is inter, type, … (runtime/runtime2.go, internal/abi/iface.go).
		if n.iface.typ, n.why = b.scalar(types, 8, 8, false); n.why != "" {
			return
		}
	}
	data, dl, why := b.follow(s, 8)
	n.imag, n.why = dl, why
	isError := IsError(n.typ)
	if why != "" || n.typ.Methods && !isError {
		return
	}
	p := n.iface
	words := payloadWords
	if p.at, why = b.array(data, 0, words); why != "" {
		return
	}
	p.words = words
	p.textWords = min((b.opt.StrLen+7)/8, maxArray)
	for i := range p.texts {
		// An error may be &MyError{Code, Message}. What else an interface holds is mostly
		// a string or a number, and then what follows is no pointer: each word that is
		// tried costs a fault.
		if i > 0 && !isError {
			break
		}
		text, _, why := b.followText(data, int64(8*i))
		if why != "" {
			return
		}
		if p.texts[i], why = b.array(text, 0, p.textWords); why != "" {
			p.texts[i] = -1
			return
		}
	}
	if isError {
		for i, word := range errnoWords {
			errno, _, why := b.followText(data, 8*word)
			if why != "" {
				continue
			}
			if p.errnos[i], why = b.scalar(errno, 0, 8, false); why != "" {
				p.errnos[i] = none
			}
		}
	}
}

// followText is follow for a word that is fetched already, in an array.
func (b *Builder) followText(s source, off int64) (source, leaf, string) {
	text, _, why := s.text(b, off, 8)
	return source{inner: text}, none, why
}

// isErrno is the type whose value the Err of a *fs.PathError or *os.SyscallError mostly holds.
func isErrno(t *gotype.Type) bool { return t.Name == "syscall.Errno" }

// IsError tells whether a type is the interface error, or what generic code has for it.
func IsError(t *gotype.Type) bool {
	return t.Kind == reflect.Interface && (t.Name == "error" || t.Name == "go.shape.interface { Error() string }")
}
