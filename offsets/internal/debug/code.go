// Package flow decodes a function as a whole, and follows it wherever it goes: through all of its
// parts, and to the jumps that leave it for good. Any doubt about any of it is an error.
package debug

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Code is a decoded function. Offsets count from its first byte: a part that the compiler has moved
// elsewhere lies before 0 or beyond the function's size.
type Code struct {
	Parts []Part // the function itself is the first; only C has more
	// Tails are the jumps that leave the function for good, CondTails those that do under a
	// condition.
	Tails, CondTails []int

	Landings []int // where direct jumps inside the function lead
	Switches bool  // others lead from one place in it to another, or may
}

// Part is one of the pieces of a function, which was decoded from its first byte to its last.
type Part struct {
	Addr, Offset uint64 // in memory, without load bias, and in the file
	Code         []byte
	Boundary     []bool // an instruction begins here
	Returns      []int  // all numbers are offsets from its start
	jumps        []jump // all of them
	last         arch.Inst
}

// jump is a jump of a part; to is where a direct one leads, inside if that is in the part.
type jump struct {
	at, to int
	inside bool
	in     arch.Inst
}

// Func is a function that is not decoded: a name, and bytes of a file.
type Func struct {
	Name       string
	Addr, Size uint64
}

// Read reads the bytes of a function.
func (f Func) Read(m *image.Image) (p Part, err error) {
	p.Addr = f.Addr
	if p.Code, err = m.Code(f.Name, f.Addr, f.Size); err != nil {
		return p, err
	}
	p.Offset, err = m.FileOffset(f.Addr)
	return p, err
}

// Go decodes a function of Go, which is all in one part, and finds the jumps that leave it.
func Go(p arch.Processor, whole Part) (*Code, error) {
	c := &Code{}
	if err := c.add(p, whole); err != nil {
		return nil, err
	}
	for _, j := range c.Parts[0].jumps {
		c.Switches = c.Switches || j.in.Kind.Indirect()
		switch {
		case j.inside:
		case j.in.Kind == arch.CondJump:
			return nil, fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Kind == arch.SwitchJump: // of the function's own: stays inside
		default:
			c.Tails = append(c.Tails, j.at)
		}
	}
	return c, nil
}

// add decodes another part.
func (c *Code) add(processor arch.Processor, p Part) error {
	if err := p.decode(processor); err != nil {
		return err
	}
	c.Parts = append(c.Parts, p)
	from := c.OffsetOf(p.Addr)
	for _, j := range p.jumps {
		if j.inside {
			c.Landings = append(c.Landings, from+j.to)
		}
	}
	return nil
}

// decode decodes a part.
//
// It goes straight on rather than along the branches: the epilogue through which a
// function leaves that has recovered a panic is reached by no branch of its own.
// What makes that safe is that any doubt ends it: a byte that is no instruction, or one
// that two decoders measure differently, a branch into the middle of an instruction (as data
// between instructions produces, which may even look like a RET).
func (p *Part) decode(processor arch.Processor) error {
	if len(p.Code) == 0 {
		return errors.New("no code")
	}
	if quantum := uint64(processor.Machine().Quantum); p.Addr%quantum != 0 || p.Offset%quantum != 0 {
		return fmt.Errorf("begins at %#x, where no instruction can", p.Addr)
	}
	p.Boundary = make([]bool, len(p.Code))
	for at := 0; at < len(p.Code); {
		in, err := processor.Decode(p.Code[at:])
		if err != nil {
			return fmt.Errorf("undecodable at +%#x: %w", at, err)
		}
		p.Boundary[at] = true
		switch in.Kind {
		case arch.Return:
			p.Returns = append(p.Returns, at)
		case arch.Jump, arch.CondJump, arch.IndirectJump, arch.SwitchJump:
			to := at + int(in.To)
			p.jumps = append(p.jumps, jump{at, to, !in.Kind.Indirect() && to >= 0 && to < len(p.Code), in})
		case arch.Literal:
			if to := at + int(in.To); to >= 0 && to < len(p.Code) {
				return fmt.Errorf("data among the code at %+#x", to)
			}
		}
		if in.Kind != arch.Nop { // padding
			p.last = in
		}
		at += in.Len
	}
	for _, j := range p.jumps {
		if j.inside && !p.Boundary[j.to] {
			return middle(j.at, j.to)
		}
	}
	return nil
}

// Instructions are those of code with their offsets, up to what is none.
func Instructions(processor arch.Processor, code []byte) iter.Seq2[int, arch.Inst] {
	return func(yield func(at int, in arch.Inst) bool) {
		for at := 0; at < len(code); {
			in, err := processor.Decode(code[at:])
			if err != nil || !yield(at, in) {
				return
			}
			at += in.Len
		}
	}
}

func middle(from, to int) error {
	return fmt.Errorf("branch at %+#x into the middle of an instruction at %+#x (data among the code?)", from, to)
}

// OffsetOf is an address as distance from the function's start.
func (c *Code) OffsetOf(addr uint64) int { return int(addr - c.Parts[0].Addr) }

// PartAt is the part that has an address.
func (c *Code) PartAt(addr uint64) *Part {
	for i := range c.Parts {
		if p := &c.Parts[i]; addr >= p.Addr && addr-p.Addr < uint64(len(p.Code)) {
			return p
		}
	}
	return nil
}
