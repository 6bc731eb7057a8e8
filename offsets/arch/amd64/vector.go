package amd64

// operandsVector is operands for VEX (SDM vol. 2, 2.3), EVEX (2.7) and XOP (AMD APM
// vol. 3, 1.2), behind their first byte.
func operandsVector(w []byte, p int, set, rex uint8) (form, int) {
	if set&^(pAddr|pSegment) != 0 || rex != 0 {
		return 0, p // #UD (SDM vol. 2, 2.3.2 to 2.3.4)
	}
	escape := w[p-1]
	payload := 3 // bytes up to and including the opcode
	switch escape {
	case 0xc5:
		payload = 2
	case 0x62:
		payload = 4
	}
	if p+payload > len(w) {
		return isCut, p
	}
	head, op := w[p], w[p+payload-1]
	pp := w[p+1] & 3
	var m *vectorMap
	switch escape {
	case 0xc5:
		m, pp = &vexMaps[1], head&3
	case 0xc4:
		m = mapAt(vexMaps[:], head&0x1f)
	case 0x8f:
		m = mapAt(xopMaps[:], head&0x1f-8)
	case 0x62:
		// These two bits are fixed, except in the extended EVEX of APX.
		if head&0x08 == 0 && w[p+1]&0x04 != 0 {
			m = mapAt(evexMaps[:], head&7)
		}
	}
	if m == nil || m.opcodes.at(op)>>pp&1 == 0 {
		return 0, p
	}
	p += payload
	if m.opcodes == &vex1 && op == 0x77 { // vzeroupper, vzeroall
		return isDefined, p
	}
	if p == len(w) {
		return isCut, p
	}
	n := modrmLen(w[p:])
	if n == 0 {
		return isCut, p
	}
	imm := m.imm
	if m.likeLegacy {
		imm = twoByte[op] & fixedImm
	}
	return isDefined | imm, p + n
}

// vectorMap is one opcode map behind VEX, EVEX or XOP.
type vectorMap struct {
	opcodes    *ppMap
	imm        form // bytes of immediate that every instruction of the map has
	likeLegacy bool // instead, as many as the same opcode behind 0f: 70 to 73, c2, c4 to c6 one
}

// mapAt is the map of that number, nil if there is none.
func mapAt(maps []vectorMap, number uint8) *vectorMap {
	if int(number) >= len(maps) || maps[number].opcodes == nil {
		return nil
	}
	return &maps[number]
}

var (
	vexMaps = [...]vectorMap{
		1: {opcodes: &vex1, likeLegacy: true},
		2: {opcodes: &vex2},
		3: {opcodes: &vex3, imm: 1},
	}
	evexMaps = [...]vectorMap{
		1: {opcodes: &evex1, likeLegacy: true},
		2: {opcodes: &evex2},
		3: {opcodes: &evex3, imm: 1},
		5: {opcodes: &evex5},
		6: {opcodes: &evex6},
	}
	// xopMaps starts at map 8.
	xopMaps = [...]vectorMap{
		{opcodes: &xop8, imm: 1},
		{opcodes: &xop9},
		{opcodes: &xop10, imm: 4},
	}
)
