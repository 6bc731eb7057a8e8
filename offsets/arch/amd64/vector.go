package amd64

// opcodeVector is opcode for VEX (SDM vol. 2, 2.3), EVEX (2.7) and XOP (AMD APM
// vol. 3, 1.2), behind their first byte.
func opcodeVector(w []byte, p int, set, rex uint8) (form, int) {
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
	m := &vexMaps[head&0x1f]
	switch escape {
	case 0xc5:
		m, pp = &vexMaps[1], head&3
	case 0x8f:
		m = &xopMaps[head&0x1f]
	case 0x62:
		// These two bits are fixed, except in the extended EVEX of APX.
		if head&0x08 != 0 || w[p+1]&0x04 == 0 {
			return 0, p
		}
		m = &evexMaps[head&7]
	}
	p += payload
	switch {
	case m.opcodes[op]>>pp&1 == 0:
		return 0, p
	case m == &vexMaps[1] && op == 0x77: // vzeroupper, vzeroall
		return isDefined, p
	case m.likeLegacy:
		return isDefined | hasModRM | twoByte[op]&fixedImm, p
	}
	return isDefined | hasModRM | m.imm, p
}
