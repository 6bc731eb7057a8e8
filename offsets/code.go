package offsets

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
)

// funcCode is the complete decoding of a function with all its parts and the jumps that leave it. If any of it is
// ambiguous, decode returns an error. Offsets are relative to the first byte of the function. A part that the
// compiler moved elsewhere has offsets below 0 or beyond the size of the function.
type funcCode struct {
	processor arch.Processor
	fn        *Func
	parts     []part // the first is the function itself; only C functions have more
	// tails are the offsets of unconditional jumps that leave the function and do not return to it. condTails are the
	// offsets of conditional jumps of this kind.
	tails, condTails []int
	jumpTargets      []int // the targets of direct jumps inside the function
	hasSwitch        bool  // the function has indirect jumps that may stay inside it
}

// part is a contiguous piece of a function, decoded from its first byte to its last.
type part struct {
	addr, offset uint64 // address without load bias, and file offset
	code         []byte
	boundary     []bool // boundary[i] is true if an instruction begins at offset i of the part
	returns      []int  // offsets of the RETs from the start of the part
	jumps        []jump
	last         arch.Inst // the last instruction that is not padding
}

// jump is a jump instruction of a part. to is the target of a direct jump; inside is true if the target is in the
// same part. at and to are offsets from the start of the part.
type jump struct {
	at, to int
	inside bool
	in     arch.Inst
}

// decode decodes a function. The error says why it is unsafe to probe the function.
func (b *Binary) decode(f *Func) (*funcCode, error) {
	c := &funcCode{processor: b.image.Processor, fn: f}
	if f.ABI == SystemV {
		w := &cDecoder{code: c, binary: b}
		if err := w.decode(); err != nil {
			return nil, err
		}
	} else if whole, err := b.readPart(f.Name, f.Addr, f.Size); err != nil {
		return nil, err
	} else if err := c.decodeGo(whole); err != nil {
		return nil, err
	}
	return c, nil
}

// readPart reads the bytes of a function or of a part of it.
func (b *Binary) readPart(name string, addr, size uint64) (p part, err error) {
	p.addr = addr
	if p.code, err = b.image.Code(name, addr, size); err != nil {
		return p, err
	}
	p.offset, err = b.image.FileOffset(addr)
	return p, err
}

// decodeGo decodes a Go function, which has only one part, and finds the jumps that leave it.
func (c *funcCode) decodeGo(whole part) error {
	if err := c.addPart(whole); err != nil {
		return err
	}
	for _, j := range c.parts[0].jumps {
		c.hasSwitch = c.hasSwitch || j.in.Kind.Indirect()
		switch {
		case j.inside:
		case j.in.Kind == arch.CondJump:
			return fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Kind == arch.SwitchJump: // stays inside the function
		default:
			c.tails = append(c.tails, j.at)
		}
	}
	return nil
}

// addPart decodes a part and adds it to the function.
func (c *funcCode) addPart(p part) error {
	if err := p.decode(c.processor); err != nil {
		return err
	}
	c.parts = append(c.parts, p)
	from := c.offsetOf(p.addr)
	for _, j := range p.jumps {
		if j.inside {
			c.jumpTargets = append(c.jumpTargets, from+j.to)
		}
	}
	return nil
}

// decode decodes a part.
//
// It decodes linearly instead of following branches, because no branch leads to the epilogue that a function executes
// after it recovered a panic. Linear decoding is safe because decode returns an error in any doubt: for bytes that
// are not an instruction, for instructions whose length two decoders disagree on, and for branches into the middle of
// an instruction. Such a branch occurs if data between instructions, which may even look like a RET, is decoded as
// code.
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
			return middleError(j.at, j.to)
		}
	}
	return nil
}

func middleError(from, to int) error {
	return fmt.Errorf("branch at %+#x into the middle of an instruction at %+#x (data among the code?)", from, to)
}

// offsetOf converts an address to an offset from the start of the function.
func (c *funcCode) offsetOf(addr uint64) int { return int(addr - c.parts[0].addr) }

// partAt returns the part that contains an address, or nil.
func (c *funcCode) partAt(addr uint64) *part {
	for i := range c.parts {
		if p := &c.parts[i]; addr >= p.addr && addr-p.addr < uint64(len(p.code)) {
			return p
		}
	}
	return nil
}

// site returns the site of the instruction at an offset. The error says why the kernel can't probe it.
func (c *funcCode) site(offset int) (s Site, err error) {
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
