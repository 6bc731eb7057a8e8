package offsets

import (
	"errors"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Registers for integers and pointers, and how many there are for floating point, of
// parameters and of results (System V ABI for x86-64, 3.2.3).
var (
	sysvParams  = []string{"di", "si", "dx", "cx", "r8", "r9"}
	sysvResults = []string{"ax", "dx"}
)

const sysvFloats = 8

// sysvAssignment hands out registers and stack slots as C does. The stack pointer at
// entry points to the return address.
type sysvAssignment struct {
	ints, floats int
	stack        int64
	lost         error // as in goAssignment
}

var errSysvType = errors.New("how C passes values of its type is not known")

// place is where the next parameter of a type is.
func (a *sysvAssignment) place(t *gotype.Type) ([]Piece, error) {
	if a.lost != nil {
		return nil, a.lost
	}
	if t.Size == 0 {
		return nil, nil
	}
	words, err := classify(t)
	if err != nil {
		a.lost = errors.New("behind a value of a type that is not known")
		return nil, err
	}
	ints, floats := 0, 0
	for _, float := range words {
		if float {
			floats++
		} else {
			ints++
		}
	}
	if len(words) == 0 || a.ints+ints > len(sysvParams) || a.floats+floats > sysvFloats {
		a.stack = alignUp(a.stack, max(8, t.Align))
		at := a.stack
		a.stack += alignUp(t.Size, 8)
		return onStack(t.Size, 8+at), nil
	}
	pieces := inWords(words, t.Size, sysvParams[a.ints:])
	a.ints += ints
	a.floats += floats
	return pieces, nil
}

// inWords puts each eight bytes of a value in the next register of their class.
func inWords(words []bool, size int64, registers []string) (pieces []Piece) {
	for i, float := range words {
		piece := Piece{Offset: 8 * int64(i), Size: min(8, size-8*int64(i))}
		if !float {
			piece.Register, registers = registers[0], registers[1:]
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// classify tells of each eight bytes of a value whether they are floating point (class
// SSE) or not (INTEGER); there is none if the value is passed in memory.
func classify(t *gotype.Type) ([]bool, error) {
	if t.Size < 0 || t.Kind == gotype.Unknown {
		return nil, errSysvType
	}
	if t.Size > 16 {
		return nil, nil
	}
	words := make([]bool, (t.Size+7)/8)
	for i := range words {
		words[i] = true
	}
	if !classifyParts(t, 0, words) {
		return nil, errSysvType
	}
	return words, nil
}

func classifyParts(t *gotype.Type, at int64, words []bool) bool {
	if t.Size == 0 {
		return true
	}
	switch t.Kind {
	case gotype.Unknown:
		return false
	case gotype.Float, gotype.Complex:
		return true
	case gotype.Struct:
		for _, f := range t.Fields {
			if !classifyParts(f.Type, at+f.Offset, words) {
				return false
			}
		}
		return true
	case gotype.Array:
		elem := t.Elem()
		for i := range t.Len {
			if elem == nil || !classifyParts(elem, at+i*elem.Size, words) {
				return false
			}
		}
		return true
	}
	for i := at / 8; i < (at+t.Size+7)/8; i++ {
		words[i] = false
	}
	return true
}
