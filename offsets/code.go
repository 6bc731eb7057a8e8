package offsets

import (
	"fmt"
	"sort"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// Code is a function that was decoded as a whole.
type Code struct {
	// Sites is where calls begin and end, and Unprobed why the function must not be probed, so that
	// there are none.
	Sites    *Sites
	Unprobed error

	processor arch.Processor
	fn        *Func
	flow      *debug.Code
}

// Decode decodes a function. The error says why it must not be probed.
func (b *Binary) Decode(f *Func) (*Code, error) {
	c := &Code{processor: b.image.Processor, fn: f}
	var err error
	if of := f.undecoded(); f.ABI == SystemV {
		c.flow, err = debug.C(b.image, b.unwind(), symbols{b}, of)
	} else if whole, readErr := of.Read(b.image); readErr != nil {
		err = readErr
	} else {
		c.flow, err = debug.Go(c.processor, whole)
	}
	if err != nil {
		return nil, err
	}
	c.Sites, c.Unprobed = c.sites()
	return c, nil
}

func (f *Func) undecoded() debug.Func { return debug.Func{Name: f.Name, Addr: f.Addr, Size: f.Size} }

// symbols are a binary's functions, as [debug.Symbols].
type symbols struct{ *Binary }

func (s symbols) At(addr uint64) (f debug.Func, ok bool) {
	in, ok := s.FuncAt(addr)
	if ok {
		f = in.undecoded()
	}
	return f, ok
}

func (s symbols) From(addr uint64) (f debug.Func, ok bool) {
	next := sort.Search(len(s.funcs), func(i int) bool { return s.funcs[i].Addr >= addr })
	if next == len(s.funcs) {
		return f, false
	}
	return s.funcs[next].undecoded(), true
}

func (s symbols) Has(name string) bool {
	_, ok := s.Lookup(name)
	return ok
}

// at is the instruction at an offset where one begins. The error says why the kernel takes
// no probe there.
func (c *Code) at(offset int) (s Site, err error) {
	addr := c.fn.Addr + uint64(offset)
	p := c.flow.PartAt(addr)
	at := int(addr - p.Addr)
	in, err := c.processor.Decode(p.Code[at:])
	if err != nil {
		return s, fmt.Errorf("instruction at +%#x: %w", at, err)
	}
	cost := c.processor.Cost(p.Code, at)
	if cost.Refused != "" {
		return s, fmt.Errorf("instruction at +%#x: %s", at, cost.Refused)
	}
	return Site{addr, p.Offset + uint64(at), cost, in.Cond}, nil
}
