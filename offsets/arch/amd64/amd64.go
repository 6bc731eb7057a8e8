package amd64

import (
	"bytes"
	"errors"

	"github.com/ftgo/ftgo/offsets/arch"
)

// Processor is x86-64.
var Processor arch.Processor = processor{}

type processor struct{}

// errDisagree says that the two decoders measure an instruction differently.
var errDisagree = errors.New("decode instruction: two decoders disagree on its length")

// Decode decodes an instruction with two decoders, which must find it as long.
func (processor) Decode(code []byte) (arch.Inst, error) {
	in, err := decode(code)
	if err != nil {
		return arch.Inst{}, err
	}
	if !agrees(code, &in) {
		return arch.Inst{}, errDisagree
	}
	kind, to := in.Kind, int64(0)
	switch kind {
	case arch.Jump, arch.CondJump, arch.Call:
		to = int64(in.Len) + in.Rel
	case arch.IndirectJump:
		if in.Table {
			kind = arch.SwitchJump
		}
	case arch.Other:
		if op := code[in.Prefix]; op == 0x90 || op == 0x0f && code[in.Prefix+1] == 0x1f {
			kind = arch.Nop
		}
	}
	return arch.Inst{Len: in.Len, Kind: kind, Cond: in.Cond, To: to}, nil
}

func (processor) Cost(function []byte, at int) arch.Cost {
	code := function[at:]
	in, err := decode(code)
	if err != nil {
		return arch.Cost{Refused: err.Error()}
	}
	cost := probe(code, in)
	cost.Passable = cost.Refused != "" && in.Kind == arch.Other && keepsSP(code, in)
	return cost
}

// keepsSP holds for instructions with a LOCK prefix, and for VEX and EVEX.
func keepsSP(code []byte, in inst) bool {
	switch code[in.Prefix] {
	case 0xc4, 0xc5, 0x62:
		return true
	}
	return bytes.IndexByte(code[:in.Prefix], 0xf0) >= 0
}
