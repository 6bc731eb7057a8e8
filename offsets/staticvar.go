package offsets

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/offsets/symname"
)

// errNoVariable means that there is no such package variable.
var errNoVariable = errors.New("no such variable")

// StaticVariable finds a package variable of Go, "main.counter", or a global or static one of C:
// its piece is Static. Of a file without debug information only the size is known. The error for
// a name that is not there gives the names that are most like it.
func (b *Binary) StaticVariable(name string) (Variable, error) {
	v, err := b.staticVariable(name)
	if err != nil {
		return Variable{}, fmt.Errorf("find variable %s: %w", name, err)
	}
	return v, nil
}

func (b *Binary) staticVariable(name string) (v Variable, err error) {
	at := func(t *gotype.Type, addr uint64) Variable {
		own, ok := b.ownAddress(addr, uint64(max(t.Size, 1)))
		v := Variable{Name: name, Type: t}.in(Piece{Static: true, Disp: int64(own)})
		if !ok {
			v.Pieces, v.Err = nil, fmt.Errorf("no instruction tells where %s has it", b.image.Path())
		}
		return v
	}
	d, err := b.debug()
	if err == nil {
		if t, addr, ok, err := d.Variable(name); err != nil {
			return v, err
		} else if ok {
			return at(t, addr), nil
		}
	} else if !errors.Is(err, ErrNoDebugInfo) {
		return v, err
	}
	// Debug information leaves out what the linker made, and assembly.
	var known []string
	err = b.image.Described.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		if s.Kind != elf.STT_OBJECT || s.Size == 0 || s.Size > debug.MaxValueSize {
			return
		}
		known = append(known, s.Name)
		if v.Type == nil && (s.Name == name || s.Name == debug.EscapedPath(name)) {
			v = at(debug.Unknown("?", int64(s.Size)), s.Addr)
		}
	})
	if err != nil || v.Type != nil {
		return v, err
	}
	if d != nil {
		known = d.Variables()
	}
	near := symname.Nearest(name, slices.Values(known), 3)
	switch {
	case len(known) == 0:
		err = fmt.Errorf("%w: the file names no variables (stripped?)", errNoVariable)
	case len(near) == 0:
		err = errNoVariable
	default:
		err = fmt.Errorf("%w: did you mean %s?", errNoVariable, strings.Join(near, ", "))
	}
	return v, err
}
