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
	return costs[c]
}

// costs lists the costs of the classes, except that of single-stepped instructions.
var costs = [undefined + 1]arch.Cost{
	jump: {Emulated: true}, condJump: {Emulated: true}, call: {Emulated: true}, callReg: {Emulated: true}, jumpReg: {Emulated: true},
	ret: {Emulated: true}, address: {Emulated: true},
	authRet: {Refused: authenticates}, authCall: {Refused: authenticates}, authJump: {Refused: authenticates},
	newCond: {Refused: "conditional branch that kernels do not simulate"},
	system:  {Refused: "system call"},
	refused: {Refused: "system instruction that kernels do not step", Passable: true},
	literal: {Refused: "load of a literal, which kernels carry out wrongly", Passable: true},
	loadEx:  {Refused: "exclusive access"}, storeEx: {Refused: "exclusive access"},
	trap:      {Refused: "raises an exception"},
	undefined: {Refused: errUndefined.Error()},
}

const authenticates = "branch with pointer authentication"
