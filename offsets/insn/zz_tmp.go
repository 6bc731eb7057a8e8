package insn

type Class uint8

const (
	Stepped Class = iota
	Emulated
	EmulatedPush
	Refused
)

type Cost struct {
	Class  Class
	Reason string
}

func Probe(code []byte, in Inst) Cost {
	op := code[in.Prefix]
	switch {
	case in.Kind == Jump || in.Kind == CondJump || in.Kind == Call || op == 0x90:
		return Cost{Class: Emulated}
	case op >= 0x50 && op < 0x58 && in.Prefix == 0:
		return Cost{Class: EmulatedPush}
	case op == 0xc4 || op == 0xc5 || op == 0x62 || code[0] == 0xf0 || op == 0xcc || op == 0xf4:
		return Cost{Refused, "kernel"}
	}
	return Cost{Class: Stepped}
}
