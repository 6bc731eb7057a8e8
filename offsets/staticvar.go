package offsets

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// StaticVariable finds a package variable, "main.counter". Its only piece is Static. Without debug information of Go only the
// size is known.
func (b internals) StaticVariable(name string) (Variable, error) {
	v, err := b.staticVariable(name)
	if err != nil {
		return Variable{}, fmt.Errorf("find variable %s: %w", name, err)
	}
	return v, nil
}

func (b *Binary) staticVariable(name string) (v Variable, err error) {
	at := func(t *gotype.Type, addr uint64) Variable {
		v := Variable{Name: name, Type: t}.inPiece(Piece{Static: true, Disp: int64(addr)})
		// The linker's flags of a build are in its data, so variables of another build are at other addresses.
		if from := b.image.Description; from != b.image && (from.BuildID() == "" || from.BuildID() != b.image.BuildID()) {
			v.Pieces, v.Err = nil, fmt.Errorf("its address in %s is unknown: %s has another build ID", b.image.Path(), from.Path())
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
	// Debug information does not have variables of assembly code and of the linker.
	err = b.eachObject(func(s image.Symbol) {
		if v.Type == nil && (s.Name == name || s.Name == debug.EscapedPath(name)) {
			v = at(debug.Unknown("?", int64(s.Size)), s.Addr)
		}
	})
	if err == nil && v.Type == nil {
		err = errors.New("no such variable")
	}
	return v, err
}

// eachObject calls visit for each symbol that may be a variable.
func (b *Binary) eachObject(visit func(image.Symbol)) error {
	return b.image.Description.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		if s.Kind == elf.STT_OBJECT && s.Size > 0 && s.Size <= debug.MaxValueSize {
			visit(s)
		}
	})
}

// StaticVariables returns the sorted names of the variables in debug information or else in the symbol table. It returns an
// error if it finds no variable.
func (b internals) StaticVariables() (names []string, err error) {
	d, err := b.debug()
	switch {
	case err == nil:
		names = d.Variables()
	case errors.Is(err, ErrNoDebugInfo):
		err = b.eachObject(func(s image.Symbol) { names = append(names, s.Name) })
	}
	if err == nil && len(names) == 0 {
		err = errors.New("the file names none (stripped?)")
	}
	if err != nil {
		return nil, fmt.Errorf("list variables: %w", err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
