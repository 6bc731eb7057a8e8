package offsets

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
)

// decoded is a function that was decoded as a whole, and followed wherever it goes: through all of its parts, and to the
// jumps that leave it for good. Any doubt about any of it is an error. Offsets count from its first byte: a part that
// the compiler has moved elsewhere lies before 0 or beyond the function's size.
type decoded struct {
	processor arch.Processor
	fn        *Func
	parts     []part // the function itself is the first; only C has more
	// tails are the jumps that leave the function for good, condTails those that do under a
	// condition.
	tails, condTails []int
	landings         []int // where direct jumps inside the function lead
	switches         bool  // others lead from one place in it to another, or may
}

// part is one of the pieces of a function, which was decoded from its first byte to its last.
type part struct {
	addr, offset uint64 // in memory, without load bias, and in the file
	code         []byte
	boundary     []bool // an instruction begins here
	returns      []int  // all numbers are offsets from its start
	jumps        []jump // all of them
	last         arch.Inst
}

// jump is a jump of a part; to is where a direct one leads, inside if that is in the part.
type jump struct {
	at, to int
	inside bool
	in     arch.Inst
}

// decode decodes a function. The error says why it must not be probed.
func (b *Binary) decode(f *Func) (*decoded, error) {
	c := &decoded{processor: b.image.Processor, fn: f}
	if f.ABI == SystemV {
		w := &way{code: c, binary: b}
		if err := w.follow(); err != nil {
			return nil, err
		}
	} else if whole, err := b.readPart(f.Name, f.Addr, f.Size); err != nil {
		return nil, err
	} else if err := c.decodeGo(whole); err != nil {
		return nil, err
	}
	return c, nil
}

// readPart reads the bytes of a function, or of a part of one.
func (b *Binary) readPart(name string, addr, size uint64) (p part, err error) {
	p.addr = addr
	if p.code, err = b.image.Code(name, addr, size); err != nil {
		return p, err
	}
	p.offset, err = b.image.FileOffset(addr)
	return p, err
}

// decodeGo decodes a function of Go, which is all in one part, and finds the jumps that leave it.
func (c *decoded) decodeGo(whole part) error {
	if err := c.add(whole); err != nil {
		return err
	}
	for _, j := range c.parts[0].jumps {
		c.switches = c.switches || j.in.Kind.Indirect()
		switch {
		case j.inside:
		case j.in.Kind == arch.CondJump:
			return fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Kind == arch.SwitchJump: // of the function's own: stays inside
		default:
			c.tails = append(c.tails, j.at)
		}
	}
	return nil
}

// add decodes another part.
func (c *decoded) add(p part) error {
	if err := p.decode(c.processor); err != nil {
		return err
	}
	c.parts = append(c.parts, p)
	from := c.offsetOf(p.addr)
	for _, j := range p.jumps {
		if j.inside {
			c.landings = append(c.landings, from+j.to)
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
func (p *part) decode(processor arch.Processor) error {
	if len(p.code) == 0 {
		return errors.New("no code")
	}
	if quantum := uint64(processor.Machine().Quantum); p.addr%quantum != 0 || p.offset%quantum != 0 {
		return fmt.Errorf("begins at %#x, where no instruction can", p.addr)
	}
	p.boundary = make([]bool, len(p.code))
	for at := 0; at < len(p.code); {
		in, err := processor.Decode(p.code[at:])
		if err != nil {
			return fmt.Errorf("undecodable at +%#x: %w", at, err)
		}
		p.boundary[at] = true
		switch in.Kind {
		case arch.Return:
			p.returns = append(p.returns, at)
		case arch.Jump, arch.CondJump, arch.IndirectJump, arch.SwitchJump:
			to := at + int(in.To)
			p.jumps = append(p.jumps, jump{at, to, !in.Kind.Indirect() && to >= 0 && to < len(p.code), in})
		case arch.Literal:
			if to := at + int(in.To); to >= 0 && to < len(p.code) {
				return fmt.Errorf("data among the code at %+#x", to)
			}
		}
		if in.Kind != arch.Nop { // padding
			p.last = in
		}
		at += in.Len
	}
	for _, j := range p.jumps {
		if j.inside && !p.boundary[j.to] {
			return middle(j.at, j.to)
		}
	}
	return nil
}

func middle(from, to int) error {
	return fmt.Errorf("branch at %+#x into the middle of an instruction at %+#x (data among the code?)", from, to)
}

// offsetOf is an address as distance from the function's start.
func (c *decoded) offsetOf(addr uint64) int { return int(addr - c.parts[0].addr) }

// partAt is the part that has an address.
func (c *decoded) partAt(addr uint64) *part {
	for i := range c.parts {
		if p := &c.parts[i]; addr >= p.addr && addr-p.addr < uint64(len(p.code)) {
			return p
		}
	}
	return nil
}

// at is the instruction at an offset where one begins. The error says why the kernel takes
// no probe there.
func (c *decoded) at(offset int) (s Site, err error) {
	addr := c.fn.Addr + uint64(offset)
	p := c.partAt(addr)
	at := int(addr - p.addr)
	in, err := c.processor.Decode(p.code[at:])
	if err != nil {
		return s, fmt.Errorf("instruction at +%#x: %w", at, err)
	}
	cost := c.processor.Cost(p.code, at)
	if cost.Refused != "" {
		return s, fmt.Errorf("instruction at +%#x: %s", at, cost.Refused)
	}
	cost.Cond = in.Cond
	return Site{addr, p.offset + uint64(at), cost}, nil
}
