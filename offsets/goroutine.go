package offsets

import (
	"debug/dwarf"
	"errors"
	"fmt"
)

// GoroutineLayout is where runtime.g (runtime/runtime2.go) keeps what identifies a
// goroutine and its stack: byte offsets from g.
type GoroutineLayout struct {
	Goid    int64 // uint64, unique in a process over its life
	StackLo int64 // uintptr, lowest address of the stack
	StackHi int64 // uintptr, address after the highest
}

// goidOffset is the offset of runtime.g.goid by minor version of Go, as DWARF of
// the versions themselves states it. stack is the first field in all of them.
var goidOffset = map[int]int64{
	17: 152, 18: 152, 19: 152, 20: 152, 21: 152, 22: 152,
	23: 160, 24: 160, // syscallbp was added
	25: 152, 26: 152, // gobuf.ret was removed
}

// Layout returns the layout of runtime.g: from DWARF where the binary has it, else
// by the version of Go.
func (b *Binary) Layout() (GoroutineLayout, error) { return b.layout() }

func (b *Binary) readLayout() (GoroutineLayout, error) {
	l, err := b.layoutFromDWARF()
	if err == nil {
		return l, nil
	}
	v, ok := b.GoVersion()
	if !ok {
		return l, errors.New("find runtime.g: not a Go program")
	}
	off, known := goidOffset[v.Minor]
	if !known || v.Devel {
		return l, fmt.Errorf("find runtime.g of %s: version unknown, and no debug information: %w", v, err)
	}
	return GoroutineLayout{Goid: off, StackLo: 0, StackHi: 8}, nil
}

func (b *Binary) layoutFromDWARF() (GoroutineLayout, error) {
	d, err := b.elf.DWARF()
	if err != nil {
		return GoroutineLayout{}, err
	}
	g, err := structNamed(d, "runtime.g")
	if err != nil {
		return GoroutineLayout{}, err
	}
	goid, err := field(g, "goid")
	if err != nil {
		return GoroutineLayout{}, err
	}
	stack, err := field(g, "stack")
	if err != nil {
		return GoroutineLayout{}, err
	}
	bounds, ok := underlying(stack.Type).(*dwarf.StructType)
	if !ok {
		return GoroutineLayout{}, fmt.Errorf("read runtime.g: stack is a %s", stack.Type)
	}
	lo, err := field(bounds, "lo")
	if err != nil {
		return GoroutineLayout{}, err
	}
	hi, err := field(bounds, "hi")
	if err != nil {
		return GoroutineLayout{}, err
	}
	return GoroutineLayout{
		Goid:    goid.ByteOffset,
		StackLo: stack.ByteOffset + lo.ByteOffset,
		StackHi: stack.ByteOffset + hi.ByteOffset,
	}, nil
}

// structNamed finds a struct type in the compilation unit of its package, which is
// the only one that describes it.
func structNamed(d *dwarf.Data, name string) (*dwarf.StructType, error) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, fmt.Errorf("find type %s: not in debug information", name)
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
		case dwarf.TagStructType:
			if e.Val(dwarf.AttrName) == name {
				t, err := d.Type(e.Offset)
				if err != nil {
					return nil, err
				}
				if s, ok := t.(*dwarf.StructType); ok && !s.Incomplete {
					return s, nil
				}
			}
			r.SkipChildren()
		default:
			r.SkipChildren()
		}
	}
}

func field(s *dwarf.StructType, name string) (*dwarf.StructField, error) {
	for _, f := range s.Field {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("find field %s of %s: not in debug information", name, s.StructName)
}

// underlying is a type without its names.
func underlying(t dwarf.Type) dwarf.Type {
	for {
		td, ok := t.(*dwarf.TypedefType)
		if !ok {
			return t
		}
		t = td.Type
	}
}
