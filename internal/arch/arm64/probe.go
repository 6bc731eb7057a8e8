package arm64

import "github.com/ftgo/ftgo/internal/arch"

// Cost is valid for kernels from 5.10 to 7.2. An instruction is Refused if any of them refuses it, or accepts it and
// then misbehaves, and Emulated if all of them simulate it.
func (processor) Cost(function []byte, at int) arch.Cost {
	if len(function)-at < size {
		return arch.Cost{Refused: errTruncated.Error()}
	}
	c := classify(word(function[at:]))
	if exclusive(function, at) && c != loadEx && c != storeEx {
		return arch.Cost{Refused: "between an exclusive load and its store, which a probe keeps from ever succeeding"}
	}
	switch c {
	case jump, condJump, call, callReg, jumpReg, ret, address:
		return arch.Cost{Emulated: true}
	case authRet, authCall, authJump:
		return arch.Cost{Refused: "branch with pointer authentication"}
	case newCond:
		return arch.Cost{Refused: "conditional branch that kernels do not simulate"}
	case system:
		return arch.Cost{Refused: "system call"}
	case refused:
		return arch.Cost{Refused: "system instruction that kernels do not step", Passable: true}
	case literal:
		return arch.Cost{Refused: "load of a literal, which kernels carry out wrongly", Passable: true}
	case loadEx, storeEx:
		return arch.Cost{Refused: "exclusive access"}
	case trap:
		return arch.Cost{Refused: "raises an exception"}
	case undefined:
		return arch.Cost{Refused: errUndefined.Error()}
	}
	return arch.Cost{}
}
