package offsets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// internals has the methods of Binary that are for packages of this module only, and the program's runtime data.
type internals struct {
	*Binary
	*gotab.Tables
}

// Internals returns the methods that are for packages of this module. They may change.
func (b *Binary) Internals() internals { return internals{b, b.tables} }

// Module returns the path of the program's main module, or "" if it is unknown.
func (b internals) Module() string { return b.goVer.Module }

// Constant finds an integer constant of Go in debug information by its qualified name, "http.StatusOK", or by its
// name in package pkg, "StatusOK".
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

// FirstBranch returns the first conditional jump of a function, if each call executes it exactly once, and if no
// instruction before it writes a register other than SP, the frame pointer and the flags. The kernel emulates a
// conditional jump, but may have to single-step the first instruction of a function without a stack check, which
// costs the program ten times as much.
func (b internals) FirstBranch(f *Func) (Site, error) {
	c, err := b.decode(f)
	if err != nil {
		return Site{}, err
	}
	return c.firstBranch()
}

// NoCode reports whether err says that [internals.LineAddrs] or [internals.SiteAt] found no code.
func (internals) NoCode(err error) bool {
	return errors.Is(err, errNoCode) || errors.Is(err, errNoInstruction)
}

// errNoInstruction means that no instruction begins at an offset.
var errNoInstruction = errors.New("not where an instruction begins")

// SiteAt returns the site of the instruction at an offset from the first byte of a function. It returns an error if no
// instruction begins at the offset (then NoCode is true, and the error has the offsets of the nearest instructions), or if
// the kernel can't probe the instruction.
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
		return c.site(before)
	case offset >= uint64(len(c.parts[0].boundary)):
		return Site{}, fmt.Errorf("%w: beyond the function's %d bytes; last instruction: +%#x", errNoInstruction, c.fn.Size, before)
	}
	return Site{}, fmt.Errorf("%w; nearest: +%#x%s", errNoInstruction, before, after)
}

// CallsOf returns the sites of the direct calls of callee in f.
func (b internals) CallsOf(f, callee *Func) (calls []Site, err error) {
	c, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	for at, in := range arch.Instructions(c.processor, c.parts[0].code) {
		if in.Kind != arch.Call || c.fn.Addr+uint64(at)+uint64(in.To) != callee.Addr {
			continue
		}
		call, err := c.site(at)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	return calls, nil
}
