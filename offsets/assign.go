package offsets

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// goAssignment hands out registers and stack slots as Go's calling conventions do:
// ABI0 has no registers. Offsets count from the stack pointer at entry, which is the same
// where the function returns.
type goAssignment struct {
	sp           arch.Reg
	conv         *arch.CallConv
	ints, floats int
	stack        int64
	// lost is why the place of nothing that follows is known.
	lost error
}

func (b *Binary) newGoAssignment(abi ABI) *goAssignment {
	conv := b.image.Processor.Go(b.goVer.Minor, abi != ABIInternal)
	return &goAssignment{sp: b.image.Processor.Machine().SP, conv: conv, stack: conv.StackArgs}
}

func (a *goAssignment) registers() bool { return len(a.conv.Ints) > 0 }

// results goes on with the results: they begin at the first register again, and behind
// the parameters on the stack.
func (a *goAssignment) results() {
	a.ints, a.floats = 0, 0
	a.stack = alignUp(a.stack, 8)
}

// place is where the next parameter or result of a type is.
func (a *goAssignment) place(t *gotype.Type) ([]Piece, error) {
	if a.lost != nil {
		return nil, a.lost
	}
	if t.Size < 0 {
		a.lost = errors.New("behind a value of a type that is not known")
		return nil, fmt.Errorf("type %s is not known", t.Name)
	}
	if a.registers() && t.Size > 0 {
		parts, err := flatten(t)
		if err != nil {
			a.lost = errors.New("behind a value of a type that is not known")
			return nil, err
		}
		if pieces, ok := a.inRegisters(parts); ok {
			return pieces, nil
		}
	}
	a.stack = alignUp(a.stack, t.Align)
	at := a.stack
	a.stack += t.Size
	return onStack(a.sp, t.Size, at), nil
}

// onStack is the whole of a value in memory; of no bytes there is no piece.
func onStack(sp arch.Reg, size, disp int64) []Piece {
	if size == 0 {
		return nil
	}
	return []Piece{{Size: size, Register: sp, InMemory: true, Disp: disp}}
}

// inRegisters gives all parts registers, or none.
func (a *goAssignment) inRegisters(parts []valuePart) (pieces []Piece, ok bool) {
	ints, floats := a.ints, a.floats
	for _, p := range parts {
		piece := Piece{Offset: p.offset, Size: p.size}
		switch {
		case p.array, p.float && floats == a.conv.Floats, !p.float && ints == len(a.conv.Ints):
			return nil, false
		case p.float:
			floats++
		default:
			piece.Register = a.conv.Ints[ints]
			ints++
		}
		pieces = append(pieces, piece)
	}
	a.ints, a.floats = ints, floats
	return pieces, true
}

func alignUp(n, align int64) int64 {
	if align <= 1 {
		return n
	}
	return (n + align - 1) / align * align
}

// valuePart is a part of a value that a register of its own could hold.
type valuePart struct {
	offset, size int64
	float        bool
	// array: it is an array of more than one element, for which no register will do.
	array bool
}

// maxPieces is more than any processor has registers: what has more is on the stack.
const maxPieces = 48

// flatten lists the parts of a value, at most maxPieces of them.
func flatten(t *gotype.Type) ([]valuePart, error) {
	return appendParts(nil, t, 0)
}

func appendParts(parts []valuePart, t *gotype.Type, at int64) ([]valuePart, error) {
	if t.Size == 0 || len(parts) >= maxPieces {
		return parts, nil
	}
	words := func(n int64) ([]valuePart, error) {
		for i := range n {
			parts = append(parts, valuePart{offset: at + 8*i, size: 8})
		}
		return parts, nil
	}
	switch t.Kind {
	case gotype.Float:
		return append(parts, valuePart{offset: at, size: t.Size, float: true}), nil
	case gotype.Complex:
		half := t.Size / 2
		return append(parts, valuePart{offset: at, size: half, float: true}, valuePart{offset: at + half, size: half, float: true}), nil
	case gotype.String, gotype.Interface:
		return words(2)
	case gotype.Slice:
		return words(3)
	case gotype.Struct:
		var err error
		for _, f := range t.Fields {
			if parts, err = appendParts(parts, f.Type, at+f.Offset); err != nil {
				break
			}
		}
		return parts, err
	case gotype.Array:
		if t.Len != 1 || t.Elem() == nil {
			return append(parts, valuePart{offset: at, size: t.Size, array: true}), nil
		}
		return appendParts(parts, t.Elem(), at)
	case gotype.Unknown:
		return nil, fmt.Errorf("type %s is not known", t.Name)
	}
	return append(parts, valuePart{offset: at, size: t.Size}), nil
}
