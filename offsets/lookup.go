package offsets

import "github.com/ftgo/ftgo/internal/symname"

// Func is one function of a binary: a name and the bytes that belong to it.
type Func struct {
	// Name is the symbol as Go spells it: "main.(*Store).Get", "main.Map[go.shape.int]". The ABI0
	// version of a function that has another one too goes by "NAME.abi0".
	Name string
	// aliases are other names of the same bytes: __libc_malloc of malloc.
	aliases []string
	// Addr is the virtual address of the first byte, as the ELF file states it
	// (no load bias); Size is the number of bytes.
	Addr, Size uint64
	// ABI is how the function takes its arguments and where it finds g.
	ABI ABI
	// rank, while names are read, is how well Name tells the function among those of its
	// address: the lowest is best.
	rank uint8
}

// ABI is a calling convention.
type ABI uint8

const (
	// ABIInternal passes arguments in registers, and keeps g in one
	// (src/cmd/compile/abi-internal.md).
	ABIInternal ABI = iota
	// ABI0 passes everything on the stack: assembly, and all Go before it had registers.
	ABI0
	// SystemV is the convention of C: there is no goroutine to be found.
	SystemV
)

// Lookup finds a function by its exact name, or by an alias that is not the name of another one.
func (b *Binary) Lookup(name string) (*Func, bool) {
	f, ok := b.byName()[name]
	return f, ok
}

func (b *Binary) indexNames() map[string]*Func {
	index := make(map[string]*Func, len(b.funcs))
	add := func(name string, f *Func) {
		if index[name] == nil {
			index[name] = f
		}
	}
	for i := range b.funcs {
		add(b.funcs[i].Name, &b.funcs[i])
	}
	for i := range b.funcs {
		for _, alias := range b.funcs[i].aliases {
			add(alias, &b.funcs[i])
		}
	}
	return index
}

// demangle spells the names of functions that are not of Go's own toolchain, and adds the
// linker's symbols to their aliases.
func demangle(funcs []Func) {
	names := make([]string, len(funcs))
	for i := range funcs {
		names[i] = funcs[i].Name
	}
	for i, name := range symname.Demangle(names...) {
		f := &funcs[i]
		for _, alias := range f.aliases {
			if short := symname.Demangle(alias)[0]; short != alias {
				f.aliases = append(f.aliases, short)
			}
		}
		if f.Name != name {
			f.aliases = append(f.aliases, f.Name)
			f.Name = name
		}
	}
}
