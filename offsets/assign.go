package offsets

import (
	"errors"
	"reflect"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// assignment hands out registers and stack slots as calling conventions do: those of Go, of
// which ABI0 has no registers, or that of C. Offsets count from the stack pointer at entry,
// which is the same where the function returns.
type assignment struct {
	processor    arch.Processor
	conv         *arch.CallConv
	c            bool
	ints, floats int
	stack        int64
	// lost is why the place of nothing that follows is known.
	lost error
}

func (b *Binary) newAssignment(abi ABI) *assignment {
	p := b.image.Processor
	conv := p.C()
	if abi != SystemV {
		conv = p.Go(b.goVer.Minor, abi != ABIInternal)
	}
	return &assignment{processor: p, conv: conv, c: abi == SystemV, stack: conv.StackArgs}
}

// goResults goes on with the results of Go: they begin at the first register again, and behind
// the parameters on the stack.
func (a *assignment) goResults() {
	a.ints, a.floats = 0, 0
	a.stack = alignUp(a.stack, 8)
}

// place is where the next parameter or result of a type is.
func (a *assignment) place(t *gotype.Type) ([]Piece, error) {
	if a.lost != nil {
		return nil, a.lost
	}
	if t.Size == 0 && a.c {
		return nil, nil
	}
	parts, byRef, err := a.parts(t)
	switch {
	case err != nil:
		a.lost = errors.New("behind a value of a type that is not known")
		return nil, err
	case byRef:
		return a.referred(t)
	}
	if pieces, ok := a.inRegisters(parts, a.conv.Ints); ok {
		return pieces, nil
	}
	at, size := alignUp(a.stack, t.Align), t.Size
	if a.c {
		at, size = alignUp(a.stack-a.conv.StackArgs, max(8, t.Align))+a.conv.StackArgs, alignUp(t.Size, 8)
	}
	a.stack = at + size
	return onStack(a.processor.Machine().SP, t.Size, at), nil
}

// placeAll places variables one behind the other.
func (a *assignment) placeAll(vars []Variable) {
	for i := range vars {
		vars[i].Pieces, vars[i].Err = a.place(vars[i].Type)
	}
}

// parts are those of a value that registers may hold, none if it goes on the stack. byRef: its
// address is passed instead.
func (a *assignment) parts(t *gotype.Type) (parts []arch.Part, byRef bool, err error) {
	switch {
	case a.c:
		return a.processor.PassC(t)
	case t.Size < 0:
		return nil, false, unknownType(t)
	case len(a.conv.Ints) == 0:
		return nil, false, nil
	}
	parts, single, err := flatten(t)
	if !single {
		parts = nil
	}
	return parts, false, err
}

// referred is where a value is whose address is passed.
func (a *assignment) referred(t *gotype.Type) ([]Piece, error) {
	pointer, err := a.place(pointerWord)
	if err != nil || len(pointer) == 0 {
		return nil, err
	}
	whole := pointer[0]
	whole.Size, whole.Pointer, whole.InMemory = t.Size, whole.InMemory, true
	return []Piece{whole}, nil
}

var pointerWord = &gotype.Type{Name: "uintptr", Kind: reflect.Uint, Size: 8, Align: 8}

// inRegisters gives all parts registers, or none; those for integers are the ones given.
func (a *assignment) inRegisters(parts []arch.Part, registers []arch.Reg) (pieces []Piece, ok bool) {
	ints, floats := a.ints, a.floats
	for _, p := range parts {
		piece := Piece{Offset: p.Offset, Size: p.Size}
		switch {
		case p.Float && floats == a.conv.Floats:
			if a.conv.InOrder {
				a.floats = floats
			}
			return nil, false
		case !p.Float && ints == len(registers):
			if a.conv.InOrder {
				a.ints = ints
			}
			return nil, false
		case p.Float:
			floats++
		default:
			piece.Register = registers[ints]
			ints++
		}
		pieces = append(pieces, piece)
	}
	a.ints, a.floats = ints, floats
	return pieces, len(parts) > 0
}

// onStack is the whole of a value in memory; of no bytes there is no piece.
func onStack(sp arch.Reg, size, disp int64) []Piece {
	if size == 0 {
		return nil
	}
	return []Piece{{Size: size, Register: sp, InMemory: true, Disp: disp}}
}

func alignUp(n, align int64) int64 {
	if align <= 1 {
		return n
	}
	return (n + align - 1) / align * align
}

// maxPieces is more than any processor has registers: what has more is on the stack.
const maxPieces = 48

// flatten lists the parts of a value that registers of their own could hold, at most maxPieces of
// them. Not single: one is an array of more than one element, for which no register will do.
func flatten(t *gotype.Type) (parts []arch.Part, single bool, err error) {
	single = true
	var add func(t *gotype.Type, at int64) error
	add = func(t *gotype.Type, at int64) error {
		if t.Size == 0 || len(parts) >= maxPieces {
			return nil
		}
		count, size, float := int64(1), t.Size, false
		switch t.Kind {
		case reflect.Float64:
			float = true
		case reflect.Complex128:
			count, size, float = 2, t.Size/2, true
		case reflect.String, reflect.Interface:
			count, size = 2, 8
		case reflect.Slice:
			count, size = 3, 8
		case reflect.Struct:
			for _, f := range t.Fields {
				if err := add(f.Type, at+f.Offset); err != nil {
					return err
				}
			}
			return nil
		case reflect.Array:
			if t.Len == 1 && t.Elem() != nil {
				return add(t.Elem(), at)
			}
			single = false
		case reflect.Invalid:
			return unknownType(t)
		}
		for i := range count {
			parts = append(parts, arch.Part{Offset: at + size*i, Size: size, Float: float})
		}
		return nil
	}
	err = add(t, 0)
	return parts, single, err
}
