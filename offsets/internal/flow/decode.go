package flow

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets/arch"
)

// stretch is a piece of code that was decoded from its first byte to its last; all
// numbers are offsets from its start.
type stretch struct {
	boundary []bool // an instruction begins here
	returns  []int
	inner    []jump // direct ones that stay inside
	jumps    []jump // that leave it, or may: the indirect ones
	restarts bool   // a jump leads to its start
	last     arch.Inst
}

// jump is a jump out of a stretch; to is where a direct one leads.
type jump struct {
	at, to int
	in     arch.Inst
}

// decode decodes a stretch of code.
//
// It goes straight on rather than along the branches: the epilogue through which a
// function leaves that has recovered a panic is reached by no branch of its own.
// What makes that safe is that any doubt ends it: a byte that is no instruction, or one
// that two decoders measure differently, a branch into the middle of an instruction (as data
// between instructions produces, which may even look like a RET).
func decode(p arch.Processor, code []byte) (*stretch, error) {
	if len(code) == 0 {
		return nil, errors.New("no code")
	}
	s := &stretch{boundary: make([]bool, len(code))}
	for at := 0; at < len(code); {
		in, err := p.Decode(code[at:])
		if err != nil {
			return nil, fmt.Errorf("undecodable at +%#x: %w", at, err)
		}
		s.boundary[at] = true
		switch in.Kind {
		case arch.Return:
			s.returns = append(s.returns, at)
		case arch.Jump, arch.CondJump:
			j := jump{at, at + int(in.To), in}
			if j.to >= 0 && j.to < len(code) {
				s.inner = append(s.inner, j)
			} else {
				s.jumps = append(s.jumps, j)
			}
		case arch.IndirectJump, arch.SwitchJump:
			s.jumps = append(s.jumps, jump{at, 0, in})
		}
		if in.Kind != arch.Nop { // padding
			s.last = in
		}
		at += in.Len
	}
	for _, j := range s.inner {
		if !s.boundary[j.to] {
			return nil, middle(j.at, j.to)
		}
		if j.to == 0 {
			s.restarts = true
		}
	}
	return s, nil
}

func middle(from, to int) error {
	return fmt.Errorf("branch at %+#x into the middle of an instruction at %+#x (data among the code?)", from, to)
}

// sweep decodes a function of Go, which is all in one piece.
func (f *Function) sweep() error {
	s, err := decode(f.processor, f.code)
	if err != nil {
		return err
	}
	f.boundary, f.Returns, f.restarts = s.boundary, s.returns, s.restarts
	for _, j := range s.inner {
		f.landings = append(f.landings, j.to)
	}
	for _, j := range s.jumps {
		f.switches = f.switches || j.in.Kind.Indirect()
		switch {
		case j.in.Kind == arch.CondJump:
			return fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Kind == arch.SwitchJump: // of the function's own: stays inside
		default:
			f.Tails = append(f.Tails, j.at)
		}
	}
	return nil
}
