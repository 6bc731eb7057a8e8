package hostile

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
)

// maker makes files for one kind of processor, by numbers that are the same in every run.
type maker struct {
	*rand.Rand
	machine      elf.Machine
	instructions [][]byte // that code is made of, one or two kinds of them
	nop, returns []byte
	jump         func(distance int) []byte // under a condition, so far on or so
}

// makers are by GOARCH.
var makers = map[string]maker{
	"amd64": {
		machine: elf.EM_X86_64,
		instructions: [][]byte{
			{0x90}, {0xc3}, {0, 0}, {0x55}, {0xf3, 0x0f, 0x1e, 0xfa},
			{0xf0, 0x01, 0x00},         // lock add %eax,(%rax)
			{0x74, 0x00}, {0xeb, 0xfe}, // je, jmp to themselves or so
			{0xff, 0x24, 0xc5, 0, 0, 0x40, 0}, // jmp *0x400000(,%rax,8)
			{0x48, 0x8d, 0x05, 0, 0, 0, 0},    // lea 0(%rip),%rax
			{0xe8, 0, 0, 0, 0}, {0xe9, 0xfb, 0xff, 0xff, 0xff},
			{0x0f, 0x84, 0, 1, 0, 0},
		},
		nop: []byte{0x90}, returns: []byte{0xc3},
		jump: func(distance int) []byte {
			return binary.LittleEndian.AppendUint32([]byte{0x0f, 0x84}, uint32(distance))
		},
	},
	"arm64": {
		machine: elf.EM_AARCH64,
		instructions: words(
			0xd503201f, 0xd65f03c0, 0x00000000, 0xa9bf7bfd, 0xd503245f,
			0xa8c17bfd,             // ldp x29, x30, [sp], #16
			0xc85ffc20, 0xc802fc20, // ldaxr, stlxr
			0x54000000, 0x54000040, 0x14000000, // b.eq, b to themselves or so
			0xd61f0000, 0xf8617800, // br x0; ldr x0, [x0, x1, lsl #3]
			0x8b010000, 0xaa0103e0, // add x0, x0, x1; mov x0, x1
			0x90000000, 0x91000000, // adrp x0; add x0, x0, #0
			0x58000040, // ldr x0, .+8
			0x94000000, 0x17ffffff,
			0x54000800,
		),
		nop: word(0xd503201f), returns: word(0xd65f03c0),
		jump: func(distance int) []byte { return word(0x54000000 | uint32(distance/4)&0x7ffff<<5) },
	},
}

func word(w uint32) []byte { return binary.LittleEndian.AppendUint32(nil, w) }

func words(all ...uint32) (list [][]byte) {
	for _, w := range all {
		list = append(list, word(w))
	}
	return list
}

// code is some of it that ends with a return.
func code(r maker, size int) []byte {
	var text []byte
	one, other := r.instructions[r.IntN(len(r.instructions))], r.instructions[r.IntN(len(r.instructions))]
	mixed := 1 + r.IntN(64)
	for len(text) < size {
		if r.IntN(mixed) == 0 {
			text = append(text, other...)
		} else {
			text = append(text, one...)
		}
	}
	return append(text, r.returns...)
}
