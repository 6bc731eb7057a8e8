package offsets

import "github.com/ftgo/ftgo/internal/symname"

// Func is a function of a binary.
type Func struct {
	// Name is the symbol as Go spells it: "main.(*Store).Get", "main.Map[go.shape.int]". If a function has versions
	// of both ABIs, the ABI0 version is named "NAME.abi0".
	Name string
	// aliases are other symbols for the same code: __libc_malloc for malloc.
	aliases []string
	// Addr is the virtual address of the first byte in the ELF file, without load bias. Size is in bytes.
	Addr, Size uint64
	// ABI is the calling convention of the function.
	ABI ABI
	// rank is used while symbols are read: of several names for one address, the one with the lowest rank becomes
	// Name.
	rank uint8
}

// ABI is a calling convention.
type ABI uint8

const (
	// ABIInternal passes arguments in registers and keeps g in a register (src/cmd/compile/abi-internal.md).
	ABIInternal ABI = iota
	// ABI0 passes all arguments on the stack. Assembly uses it, and all functions of Go versions before ABIInternal.
	ABI0
	// SystemV is the calling convention of C. Such functions have no access to a goroutine.
	SystemV
)

// Lookup finds a function by its exact name, or by an alias that is not the name of another function.
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

// demangle replaces the linker symbols of functions of C, C++, Rust and gccgo by their demangled names, and adds the
// symbols to the aliases.
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
