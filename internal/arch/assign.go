package arch

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Piece is the place of a part of a value.
type Piece struct {
	// Offset is the part's offset in the value in bytes. Size is its size in bytes.
	Offset, Size int64
	// Register holds the part. If InMemory is true, the part is in memory, at Register plus Disp. The register "" is a
	// floating-point register, which probes can't fetch.
	Register Reg
	InMemory bool
	Disp     int64
	// Pointer means that the memory at Register plus Disp holds the address of the part. So it is for a variable that
	// a closure captured by reference.
	Pointer bool
	// Fetch is a fetcharg that the user gave for the part. If it is set, no other fields than Offset and Size may be set.
	Fetch string
	// Static means that the part is at the virtual address Disp of the file, without load bias (a package
	// variable). Register and InMemory are not set then.
	Static bool
}

// Assignment assigns registers and stack slots to parameters and results according to a calling convention of Go, of
// which ABI0 has no registers, or of C. Offsets are relative to the stack pointer at entry, which has the same value
// when the function returns.
type Assignment struct {
	Conv         *CallConv
	processor    Processor
	c            bool
	ints, floats int
	stack        int64
	// lost is the reason why the places of all following values are unknown.
	lost error
}

// NewAssignment returns an assignment that begins with the first parameter. c means that the convention is that of C.
func NewAssignment(p Processor, conv *CallConv, c bool) *Assignment {
	return &Assignment{Conv: conv, processor: p, c: c, stack: conv.StackArgs}
}

// End returns the offset on the stack at which the assigned values end.
func (a *Assignment) End() int64 { return a.stack }

// GoResults continues with the results of a Go function. They begin with the first register again, and on the stack
// they follow the parameters.
func (a *Assignment) GoResults() {
	a.ints, a.floats = 0, 0
	a.stack = AlignUp(a.stack, 8)
}

// Place returns the place of the next parameter or result, which has type t.
func (a *Assignment) Place(t *gotype.Type) ([]Piece, error) {
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
	if pieces, ok := a.inRegisters(parts, a.Conv.Ints); ok {
		return pieces, nil
	}
	at, size := AlignUp(a.stack, t.Align), t.Size
	if a.c {
		at, size = AlignUp(a.stack-a.Conv.StackArgs, max(8, t.Align))+a.Conv.StackArgs, AlignUp(t.Size, 8)
	}
	a.stack = at + size
	return OnStack(a.processor.Machine().SP, t.Size, at), nil
}

// parts returns the parts of a value that may be in registers. It returns no parts if the value is on the stack. If byRef
// is true, the function passes the address of the value instead.
func (a *Assignment) parts(t *gotype.Type) (parts []Part, byRef bool, err error) {
	switch {
	case a.c:
		return a.processor.PassC(t)
	case t.Size < 0:
		return nil, false, UnknownType(t)
	case len(a.Conv.Ints) == 0:
		return nil, false, nil
	}
	parts, single, err := Flatten(t)
	if !single {
		parts = nil
	}
	return parts, false, err
}

// referred returns the place of a value whose address is passed.
func (a *Assignment) referred(t *gotype.Type) ([]Piece, error) {
	pointer, err := a.Place(PointerWord)
	if err != nil || len(pointer) == 0 {
		return nil, err
	}
	whole := pointer[0]
	whole.Size, whole.Pointer, whole.InMemory = t.Size, whole.InMemory, true
	return []Piece{whole}, nil
}

// PointerWord is the type of a word that holds an address.
var PointerWord = &gotype.Type{Name: "uintptr", Kind: reflect.Uint, Size: 8, Align: 8}

// inRegisters assigns registers to all parts, or to none. Parts that are no floating-point numbers get one of registers.
func (a *Assignment) inRegisters(parts []Part, registers []Reg) (pieces []Piece, ok bool) {
	ints, floats := a.ints, a.floats
	for _, p := range parts {
		piece := Piece{Offset: p.Offset, Size: p.Size}
		switch {
		case p.Float && floats == a.Conv.Floats:
			if a.Conv.InOrder {
				a.floats = floats
			}
			return nil, false
		case !p.Float && ints == len(registers):
			if a.Conv.InOrder {
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

// OnStack returns the place of a value of size bytes on the stack. An empty value has no pieces.
func OnStack(sp Reg, size, disp int64) []Piece {
	if size == 0 {
		return nil
	}
	return []Piece{{Size: size, Register: sp, InMemory: true, Disp: disp}}
}

// AlignUp rounds n up to a multiple of align.
func AlignUp(n, align int64) int64 {
	if align <= 1 {
		return n
	}
	return (n + align - 1) / align * align
}

// maxPieces is larger than the number of registers of every processor. A value of more pieces is on the stack.
const maxPieces = 48

// Flatten returns the parts of a value that could each be in a register, at most maxPieces. single is false if a part is an
// array of several elements, because such an array can't be in registers.
func Flatten(t *gotype.Type) (parts []Part, single bool, err error) {
	single = true
	parts, err = appendParts(nil, t, 0, func(array *gotype.Type) bool {
		split := array.Len == 1 && array.Elem() != nil
		single = single && split
		return split
	})
	return parts, single, err
}

// Scalars returns the numbers and pointers that a value of C consists of, at most maxPieces. If it returns an error, parts
// are those before a part of unknown type.
func Scalars(t *gotype.Type) (parts []Part, err error) {
	if t.Size >= 0 {
		parts, err = appendParts(nil, t, 0, func(*gotype.Type) bool { return true })
	}
	if t.Size < 0 || t.Kind == reflect.Invalid || err != nil {
		return parts, errors.New("how C passes values of its type is not known")
	}
	return parts, nil
}

// appendParts appends the parts of a value at an offset. split reports whether to append the elements of an array instead of
// the whole array.
func appendParts(parts []Part, t *gotype.Type, at int64, split func(array *gotype.Type) bool) (_ []Part, err error) {
	if t.Size == 0 || len(parts) >= maxPieces {
		return parts, nil
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
		for i := 0; i < len(t.Fields) && err == nil; i++ {
			parts, err = appendParts(parts, t.Fields[i].Type, at+t.Fields[i].Offset, split)
		}
		return parts, err
	case reflect.Array:
		if !split(t) {
			break
		}
		elem := t.Elem()
		if elem == nil {
			return parts, UnknownType(t)
		}
		for i := int64(0); i < t.Len && len(parts) < maxPieces && err == nil; i++ {
			parts, err = appendParts(parts, elem, at+i*elem.Size, split)
		}
		return parts, err
	case reflect.Invalid:
		return parts, UnknownType(t)
	}
	for i := range count {
		parts = append(parts, Part{Offset: at + size*i, Size: size, Float: float})
	}
	return parts, nil
}

// ReturnC returns the place of a C function's result. For a large result, the caller passes an address, and the function
// stores the result there. On some processors, the address takes the place of the first parameter.
func (a *Assignment) ReturnC(t *gotype.Type) ([]Piece, error) {
	parts, _, err := a.processor.PassC(t)
	switch {
	case err != nil:
		a.lost = errors.New("the function's result type is unknown")
		return nil, err
	case t.Size == 0:
		return nil, nil
	case len(parts) > 0:
		own := Assignment{Conv: a.Conv} // results begin at the first register
		pieces, _ := own.inRegisters(parts, a.Conv.IntResults)
		return pieces, nil
	}
	if a.Conv.Indirect == "" {
		a.ints++
	}
	if a.Conv.Returned == "" {
		return nil, errors.New("the place of the result is unknown")
	}
	return []Piece{{Size: t.Size, Register: a.Conv.Returned, InMemory: true}}, nil
}

// IsWhole reports whether a value has a single part or holds an array of several elements.
func IsWhole(t *gotype.Type) bool {
	parts, single, err := Flatten(t)
	return err == nil && (len(parts) == 1 || !single)
}

// UnknownType returns the error for a type of unknown size or parts.
func UnknownType(t *gotype.Type) error { return fmt.Errorf("type %s is not known", t.Name) }
