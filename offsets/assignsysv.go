package offsets

import (
	"errors"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// cAssignment hands out registers and stack slots as C does.
type cAssignment struct {
	processor    arch.Processor
	conv         *arch.CallConv
	ints, floats int
	stack        int64
	lost         error // as in goAssignment
}

func (b *Binary) newCAssignment() *cAssignment {
	conv := b.image.Processor.C()
	return &cAssignment{processor: b.image.Processor, conv: conv, stack: conv.StackArgs}
}

// place is where the next parameter of a type is.
func (a *cAssignment) place(t *gotype.Type) ([]Piece, error) {
	if a.lost != nil {
		return nil, a.lost
	}
	if t.Size == 0 {
		return nil, nil
	}
	passed, err := a.processor.PassC(t)
	if err != nil {
		a.lost = errors.New("behind a value of a type that is not known")
		return nil, err
	}
	if passed.ByRef {
		pointer, err := a.place(pointerWord)
		if err != nil || len(pointer) == 0 {
			return nil, err
		}
		whole := pointer[0]
		whole.Size, whole.Pointer, whole.InMemory = t.Size, whole.InMemory, true
		return []Piece{whole}, nil
	}
	ints, floats := 0, 0
	for _, part := range passed.Parts {
		if part.Float {
			floats++
		} else {
			ints++
		}
	}
	if len(passed.Parts) == 0 || a.ints+ints > len(a.conv.Ints) || a.floats+floats > a.conv.Floats {
		a.stack = alignUp(a.stack-a.conv.StackArgs, max(8, t.Align)) + a.conv.StackArgs
		at := a.stack
		a.stack += alignUp(t.Size, 8)
		return onStack(a.processor.Machine().SP, t.Size, at), nil
	}
	pieces := inParts(passed.Parts, a.conv.Ints[a.ints:])
	a.ints += ints
	a.floats += floats
	return pieces, nil
}

// inParts puts each part of a value in the next register of its class.
func inParts(parts []arch.Part, registers []arch.Reg) (pieces []Piece) {
	for _, part := range parts {
		piece := Piece{Offset: part.Offset, Size: part.Size}
		if !part.Float {
			piece.Register, registers = registers[0], registers[1:]
		}
		pieces = append(pieces, piece)
	}
	return pieces
}
