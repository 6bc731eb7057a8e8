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

// StaticVariable finds a package variable of Go, "main.counter", or a global or static
// one of C: its piece is Static. Of a file without debug information only the size is
// known. The error for a name that is not there gives the names that are most like
// it.
func (b *Binary) StaticVariable(name string) (Variable, error) {
	d, err := b.debug()
	switch {
	case err == nil:
		t, addr, ok, err := d.Variable(name)
		if err != nil {
			return Variable{}, fmt.Errorf("find variable %s: %w", name, err)
		}
		if ok {
			return staticAt(name, t, addr), nil
		}
	case !errors.Is(err, ErrNoDebugInfo):
		return Variable{}, fmt.Errorf("find variable %s: %w", name, err)
	}
	// Debug information leaves out what the linker made, and assembly.
	objects, err := b.objects()
	if err != nil {
		return Variable{}, fmt.Errorf("find variable %s: %w", name, err)
	}
	for _, o := range objects {
		if o.Name == name || o.Name == debug.EscapedPath(name) {
			t := debug.Unknown("?", int64(o.Size))
			return staticAt(name, t, o.Addr), nil
		}
	}
	return Variable{}, fmt.Errorf("find variable %s: %w", name, b.noVariable(name, d, objects))
}

func staticAt(name string, t *gotype.Type, addr uint64) Variable {
	v := Variable{Name: name, Type: t}
	switch {
	case t.Size < 0:
		v.Err = fmt.Errorf("type %s is not known", t.Name)
	case t.Size > 0:
		v.Pieces = []Piece{{Size: t.Size, Static: true, Disp: int64(addr)}}
	}
	return v
}

// objects are the variables that .symtab names.
func (b *Binary) objects() (all []image.Symbol, err error) {
	err = b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		if s.Kind == elf.STT_OBJECT && s.Size > 0 && s.Size <= debug.MaxValueSize {
			all = append(all, s)
		}
	})
	return all, err
}

func (b *Binary) noVariable(name string, d *debug.Info, objects []image.Symbol) error {
	var known []string
	if d != nil {
		known = d.Variables()
	} else {
		for _, o := range objects {
			known = append(known, o.Name)
		}
	}
	if len(known) == 0 {
		return fmt.Errorf("%w: the file names no variables (stripped?)", errNoVariable)
	}
	near := symname.Nearest(name, slices.Values(known), 3)
	if len(near) == 0 {
		return errNoVariable
	}
	return fmt.Errorf("%w: did you mean %s?", errNoVariable, strings.Join(near, ", "))
}
