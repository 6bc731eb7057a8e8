package arm64

// set is a set of general registers by number. 31 is the stack pointer. The zero register is never in a set.
type set uint32

const (
	stack = 31
	link  = 30
	frame = 29
)

// one returns the set of one register, where 31 is the stack pointer.
func one(r uint32) set { return 1 << (r & 31) }

// general returns the set of one register. It returns the empty set for 31, which is the zero register.
func general(r uint32) set { return 1 << (r & 31) &^ (1 << stack) }

// operands are the registers that an instruction writes, and the memory that it accesses.
type operands struct {
	writes        set
	loads, stores bool // it accesses memory
	vector        bool // the access loads or stores vector registers
	traps         bool // it may raise a signal, even if it accesses no memory
	// The access is at base+disp and bytes long. If indexed is true, the access may be anywhere.
	base    uint32
	disp    int64
	bytes   int64
	indexed bool
	// first and second are the registers that the instruction loads or stores. second is noRegister if it accesses one.
	first, second uint32
}

const (
	noRegister = 32
	// clobbered are the registers that a call may have written: x0 to x18 and x30 (AAPCS64, 6.1.1).
	clobbered set = 1<<19 - 1 | 1<<link
)

// groups lists the groups of instructions with the functions that return their operands (DDI 0487, C4.1).
var groups = byTop([]pattern[func(w uint32) (operands, bool)]{
	// Immediates.
	{0x1f000000, 0x10000000, writesD},     // ADR, ADRP
	{0x1f800000, 0x11000000, immediateSP}, // ADD, SUB
	{0x1f800000, 0x12000000, immediateSP}, // AND, ORR, EOR
	{0x1f800000, 0x12800000, writesD},     // MOVN, MOVZ, MOVK
	{0x1f800000, 0x13000000, writesD},     // SBFM, BFM, UBFM
	{0x1f800000, 0x13800000, writesD},     // EXTR
	// Registers.
	{0x1f000000, 0x0a000000, writesD},
	{0x1f200000, 0x0b000000, writesD},
	{0x1f200000, 0x0b200000, extended},
	{0x1fe0fc00, 0x1a000000, writesD},  // ADC, SBC
	{0x3fe00410, 0x3a400000, noWrites}, // CCMN, CCMP
	{0x1fe00000, 0x1a800000, writesD},  // CSEL ...
	{0x5fe00000, 0x1ac00000, writesD},  // shifts, divisions, CRC32
	{0x5fff0000, 0x5ac00000, writesD},  // RBIT, REV, CLZ ...
	{0x1f000000, 0x1b000000, writesD},  // MADD ...
	// Memory.
	{0x3b000000, 0x18000000, loadsLiteral},
	{0x3a000000, 0x28000000, pair},
	{0x3b000000, 0x39000000, scaled},
	{0x3b200c00, 0x38000000, unscaled},
	{0x3b200c00, 0x38000400, unscaled}, // post-index
	{0x3b200c00, 0x38000c00, unscaled}, // pre-index
	{0x3b200c00, 0x38200800, byRegister},
	{0x3b200c00, 0x38200000, atomic},
	{0x3fa08000, 0x08808000, ordered},    // LDAR, STLR
	{0x3fa07c00, 0x08a07c00, swaps},      // CAS
	{0xbe000000, 0x0c000000, structures}, // LD1, ST1 ...
	{0x3fc00000, 0x08400000, exclusives}, // LDXR ...
	{0x3fc00000, 0x08000000, exclusives}, // STXR ...
	// Vectors. In a conversion, one of the registers is a vector register, but is taken for a general one.
	{0x7f20fc00, 0x1e200000, writesD}, // between integers and floating point
	{0x7f200000, 0x1e000000, writesD}, // with fixed point
	{0xbfe0ec00, 0x0e002c00, writesD}, // UMOV, SMOV
	{0x0e000000, 0x0e000000, noWrites},
	// System.
	{0xffffffff, 0xd503201f, noWrites},
	{0xffffff3f, 0xd503241f, noWrites}, // BTI
	{hintBits, hintValue, signs},
	{0xfffff01f, 0xd503301f, noWrites}, // CLREX, DMB ...
	{0xffffffe0, 0xd53bd040, writesD},  // MRS of TPIDR_EL0
	{0xfff00000, 0xd5300000, traps},    // MRS of other registers
	// Branches.
	{0xff000000, 0x54000000, noWrites},
	{0x7c000000, 0x34000000, noWrites}, // CBZ, CBNZ, TBZ, TBNZ
	{0xfc000000, 0x14000000, noWrites},
	{0xfffffc1f, 0xd61f0000, noWrites}, // BR
	{0xfefff800, 0xd61f0800, noWrites}, // BRAA ...
	{0xfc000000, 0x94000000, calls},
	{0xfffffc1f, 0xd63f0000, calls},
	{0xfefff800, 0xd63f0800, calls}, // BLRAA ...
})

// decode returns the operands of an instruction. known is false if it matches no group.
func decode(w uint32) (o operands, known bool) {
	if classify(w) == undefined {
		return o, false
	}
	return match(&groups, w, func(uint32) (o operands, known bool) { return o, false })(w)
}

// The registers of a word, named as in the manual.

func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func ra(w uint32) uint32 { return w >> 10 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }

// writesD returns the operands of instructions that write the general register D and access no memory.
func writesD(w uint32) (operands, bool) { return operands{writes: general(rd(w))}, true }

func noWrites(uint32) (o operands, known bool) { return o, true }

func traps(w uint32) (operands, bool) { return operands{writes: general(rd(w)), traps: true}, true }

// immediateSP returns the operands of instructions that write the stack pointer instead of the zero register, unless they
// set flags.
func immediateSP(w uint32) (operands, bool) {
	flags := w&0x20000000 != 0
	if w&0x1f800000 != 0x11000000 {
		flags = w&0x60000000 == 0x60000000
	}
	if flags {
		return writesD(w)
	}
	return operands{writes: one(rd(w))}, true
}

func extended(w uint32) (operands, bool) {
	if w&0x20000000 != 0 {
		return writesD(w)
	}
	return operands{writes: one(rd(w))}, true
}

func calls(uint32) (operands, bool) { return operands{writes: clobbered}, true }

// transfer completes the operands of a load or store, in which disp, bytes, second and vector are set.
func transfer(w uint32, loads, writeback bool, o operands) (operands, bool) {
	o.base, o.first = rn(w), rd(w)
	o.loads, o.stores = loads, !loads
	if loads && !o.vector {
		o.writes = general(o.first)
		if o.second != noRegister {
			o.writes |= general(o.second)
		}
	}
	if writeback {
		o.writes |= one(o.base)
	}
	return o, true
}

func isVector(w uint32) bool { return w&(1<<26) != 0 }

// scale returns the binary logarithm of the number of bytes of an access of one register.
func scale(w uint32) uint32 {
	if isVector(w) {
		return w>>30 | w>>21&4
	}
	return w >> 30
}

// single returns the operands of an access of one register.
func single(w uint32, writeback bool, disp int64) (o operands, known bool) {
	opc := w >> 22 & 3
	o.second, o.vector = noRegister, isVector(w)
	if !o.vector && w>>30 == 3 && opc == 2 { // PRFM
		return o, true
	}
	o.bytes, o.disp = 1<<scale(w), disp
	return transfer(w, opc != 0 && (!o.vector || opc&1 != 0), writeback, o)
}

func scaled(w uint32) (operands, bool) { return single(w, false, int64(w>>10&0xfff)<<scale(w)) }

func unscaled(w uint32) (operands, bool) {
	disp := signed(w, 12, 9)
	if w>>10&3 == 1 { // post-index
		disp = 0
	}
	return single(w, w>>10&1 == 1, disp)
}

func byRegister(w uint32) (o operands, known bool) {
	o, known = single(w, false, 0)
	o.indexed = true
	return o, known
}

func pair(w uint32) (o operands, known bool) {
	opc, mode, loads := w>>30, w>>23&3, w&(1<<22) != 0
	o.vector = isVector(w)
	shift := 2 + opc>>1
	switch {
	case o.vector:
		shift = 2 + opc
	case opc == 1 && !loads: // STGP
		return o, false
	}
	if opc == 3 {
		return o, false
	}
	o.second, o.bytes = ra(w), 2<<shift
	if o.disp = signed(w, 15, 7) << shift; mode == 1 { // post-index
		o.disp = 0
	}
	return transfer(w, loads, mode&1 == 1, o)
}

func atomic(w uint32) (o operands, known bool) {
	if isVector(w) {
		return o, false
	}
	o.writes = general(rd(w))
	o.loads, o.stores, o.base, o.first, o.second, o.bytes = true, true, rn(w), rd(w), noRegister, 1<<(w>>30)
	return o, true
}

func ordered(w uint32) (operands, bool) {
	return transfer(w, w&(1<<22) != 0, false, operands{bytes: 1 << (w >> 30), second: noRegister})
}

func swaps(w uint32) (o operands, known bool) {
	o, known = atomic(w)
	o.writes = general(rm(w))
	return o, known
}

// exclusives returns the operands of exclusive accesses, of one register or a pair. A store also writes its success to
// a register.
func exclusives(w uint32) (o operands, known bool) {
	switch o.base = rn(w); classify(w) {
	case loadEx:
		o.loads, o.writes = true, general(rd(w))|general(ra(w))
	case storeEx:
		o.stores, o.writes = true, general(rm(w))
	default: // CASP
		return o, false
	}
	return o, true
}

// structures returns the operands of loads and stores of up to four vector registers, at most 64 bytes.
func structures(w uint32) (o operands, known bool) {
	o = operands{vector: true, bytes: 64, indexed: true, second: noRegister}
	return transfer(w, w&(1<<22) != 0, w&(1<<23) != 0, o)
}

// signs returns the operands of pointer authentication, which writes the return address or x17.
func signs(uint32) (o operands, known bool) {
	o.writes = 1<<link | 1<<17
	return o, true
}

func loadsLiteral(w uint32) (o operands, known bool) {
	o.loads, o.vector, o.indexed, o.second = true, isVector(w), true, noRegister
	if !o.vector && w>>30 != 3 {
		o.writes = general(rd(w))
	}
	return o, true
}
