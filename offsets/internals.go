package offsets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// internals are what this module's own packages ask of a binary besides.
type internals struct{ *Binary }

// Internals has what this module's own packages ask of a binary besides. It is no promise to others.
func (b *Binary) Internals() internals { return internals{b} }

// Module is the path of the module that the program is of, "" if it does not say.
func (b internals) Module() string { return b.goVer.Module }

// KnownLayout tells whether it is known how the version of Go that built the file lays out what the program has for
// its own runtime. If not, types of values in interfaces are not known, nor, without debug information, any types or
// inlined calls.
func (b internals) KnownLayout() bool { return b.tables.Known() }

// RuntimeType decodes the runtime._type at a virtual address of the file, as [gotab.Tables.RuntimeType] does.
func (b internals) RuntimeType(addr uint64) (*gotype.Type, error) { return b.tables.RuntimeType(addr) }

// RuntimeTypeNamed finds a type that the program knows as it runs, by the name that %T prints, as
// [gotab.Tables.RuntimeTypeNamed] does.
func (b internals) RuntimeTypeNamed(name string) (*gotype.Type, error) {
	return b.tables.RuntimeTypeNamed(name)
}

// Constant finds an integer constant of Go in debug information: "http.StatusOK", or, of the package that
// is given, "StatusOK".
func (b internals) Constant(name, pkg string) (t *gotype.Type, value uint64, ok bool) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		pkg, name = name[:dot], name[dot+1:]
	}
	d, err := b.debug()
	if err != nil {
		return nil, 0, false
	}
	return d.Constant(pkg, name)
}

// ItabType returns the address of the concrete type in an itab, as [gotab.Tables.ItabType] does.
func (b internals) ItabType(addr uint64) (typ uint64, ok bool) { return b.tables.ItabType(addr) }

// FirstBranch returns a function's first conditional jump, if each call comes by it exactly
// once, and with all registers but SP, the frame pointer and the flags as they were at the
// call. The kernel emulates such an instruction, where a function without a stack check may
// begin with one that it single-steps, which costs the program ten times as much.
func (b internals) FirstBranch(f *Func) (Site, error) {
	c, err := b.decode(f)
	if err != nil {
		return Site{}, err
	}
	return c.firstBranch()
}

// NoCode tells the errors by which [internals.LineAddrs] and [internals.SiteAt] say that there is no code.
func (internals) NoCode(err error) bool { return errors.Is(err, errNoCode) }

// noInstruction says that no instruction begins at an offset, and which do near it.
type noInstruction string

func (e noInstruction) Error() string { return "not where an instruction begins" + string(e) }

func (noInstruction) Is(target error) bool { return target == errNoCode }

// SiteAt returns one instruction of a function by its offset from the first byte. The error says
// why there must be no probe: there is no instruction (NoCode, with the offsets of its
// neighbours), or the kernel takes none there.
func (b internals) SiteAt(f *Func, offset uint64) (Site, error) {
	c, err := b.decode(f)
	if err != nil {
		return Site{}, err
	}
	before, after := 0, ""
	for at, begins := range c.parts[0].boundary {
		if begins && uint64(at) > offset {
			after = fmt.Sprintf(", +%#x", at)
			break
		} else if begins {
			before = at
		}
	}
	switch {
	case offset == uint64(before):
		return c.at(before)
	case offset >= uint64(len(c.parts[0].boundary)):
		return Site{}, noInstruction(fmt.Sprintf(": beyond the function's %d bytes; last instruction: +%#x", c.fn.Size, before))
	}
	return Site{}, noInstruction(fmt.Sprintf("; nearest: +%#x%s", before, after))
}

// CallsOf returns the instructions of a function that call another one directly.
func (b internals) CallsOf(f, callee *Func) (calls []Site, err error) {
	c, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	for at, in := range arch.Instructions(c.processor, c.parts[0].code) {
		if in.Kind != arch.Call || c.fn.Addr+uint64(at)+uint64(in.To) != callee.Addr {
			continue
		}
		call, err := c.at(at)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	return calls, nil
}
