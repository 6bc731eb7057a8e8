package offsets

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
)

// decoder decodes a function completely, with all its parts and the jumps that leave it. If any of it is ambiguous, decode
// returns an error. Offsets are relative to the first byte of the function. A part that the compiler moved elsewhere has
// offsets below 0 or beyond the size of the function.
type decoder struct {
	processor arch.Processor
	binary    *Binary
	fn        *Func
	parts     []part // the first is the function itself; only C functions have more
	// tails are the offsets of unconditional jumps that leave the function and do not return to it. condTails are the
	// offsets of conditional jumps of this kind.
	tails, condTails []int
	jumpTargets      []int       // the targets of direct jumps inside the function
	crossJumps       [][2]uint64 // from and to addresses of jumps between parts, which decodeC checks at the end
	hasSwitch        bool        // the function has indirect jumps that may stay inside it
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
func (b *Binary) decode(f *Func) (d *decoder, err error) {
	d = &decoder{processor: b.image.Processor, binary: b, fn: f}
	if f.ABI == SystemV {
		return d, d.decodeC()
	}
	if err := d.addPart(f.Addr, f.Size); err != nil {
		return d, err
	}
	return d, d.findTails()
}

// findTails finds the jumps that leave a Go function, which has only one part.
func (d *decoder) findTails() error {
	for _, j := range d.parts[0].jumps {
		d.hasSwitch = d.hasSwitch || j.in.Kind.Indirect()
		switch {
		case j.inside:
		case j.in.Kind == arch.CondJump:
			return fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Kind == arch.SwitchJump: // stays inside the function
		default:
			d.tails = append(d.tails, j.at)
		}
	}
	return nil
}

// maxParts is above the number of parts that compilers split a function into.
const maxParts = 64

// addPart reads and decodes the part of the function at an address.
func (d *decoder) addPart(addr, size uint64) (err error) {
	if len(d.parts) == maxParts {
		return fmt.Errorf("in more than %d parts", maxParts)
	}
	p := part{addr: addr}
	if p.code, err = d.binary.image.Code(d.fn.Name, addr, size); err != nil {
		return err
	}
	if p.offset, err = d.binary.image.FileOffset(addr); err != nil {
		return err
	}
	return d.decodePart(p)
}

// decodePart decodes a part and adds it to the function.
func (d *decoder) decodePart(p part) error {
	if err := p.decode(d.processor); err != nil {
		return err
	}
	d.parts = append(d.parts, p)
	from := d.offsetOf(p.addr)
	for _, j := range p.jumps {
		if j.inside {
			d.jumpTargets = append(d.jumpTargets, from+j.to)
		}
	}
	if d.fn.ABI != SystemV {
		return nil
	}
	switch p.last.Kind {
	case arch.Other, arch.Literal, arch.CondJump, arch.IndirectCall:
		return errors.New("execution runs on past its end")
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

// stackCheck finds the stack check of a Go function.
func (d *decoder) stackCheck() (arch.Check, bool) {
	whole := &d.parts[0]
	return arch.StackCheck(d.processor, whole.code, func(yield func(int, arch.Inst) bool) {
		for _, j := range whole.jumps {
			if !yield(j.at, j.in) {
				return
			}
		}
	})
}

// spilled returns the results of [arch.Spilled] for a Go function. ok is false without a stack check, too.
func (d *decoder) spilled() (spills []arch.Spill, resume int, ok bool) {
	check, ok := d.stackCheck()
	if !ok {
		return nil, 0, false
	}
	return arch.Spilled(d.processor, d.parts[0].code, check)
}

// offsetOf converts an address to an offset from the start of the function.
func (d *decoder) offsetOf(addr uint64) int { return int(addr - d.parts[0].addr) }

// partAt returns the part that contains an address, or nil.
func (d *decoder) partAt(addr uint64) *part {
	for i := range d.parts {
		if p := &d.parts[i]; addr >= p.addr && addr-p.addr < uint64(len(p.code)) {
			return p
		}
	}
	return nil
}

// site returns the site of the instruction at an offset. The error says why the kernel can't probe it.
func (d *decoder) site(offset int) (s Site, err error) {
	addr := d.fn.Addr + uint64(offset)
	p := d.partAt(addr)
	at := int(addr - p.addr)
	in, err := d.processor.Decode(p.code[at:])
	if err != nil {
		return s, fmt.Errorf("instruction at +%#x: %w", at, err)
	}
	cost := d.processor.Cost(p.code, at)
	if cost.Refused != "" {
		return s, fmt.Errorf("instruction at +%#x: %s", at, cost.Refused)
	}
	cost.Cond = in.Cond
	return Site{addr, p.offset + uint64(at), cost}, nil
}
