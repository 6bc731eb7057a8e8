package insn

// Check is the split-stack check in the prologue of a function compiled by gc. A
// function whose check fails calls runtime.morestack and starts over, so its first
// instruction runs more often than it is called.
type Check struct {
	// Jump is the offset of the conditional jump that decides. It runs once for
	// each passed and once for each failed check; CF or ZF are set exactly when
	// the check fails. Until then SP, the arguments and the closure context are
	// as the caller left them.
	Jump int
	// Post is the offset of the first instruction behind a passed check, which
	// runs once for each.
	Post int
	// TakenPasses tells the form of Go 1.4, where the jump (ja) leads over the
	// call of morestack. Everywhere else it (jbe) leads to that call.
	TakenPasses bool
}

// maxPrologue bounds the instructions up to the deciding jump; the longest form
// known (Go 1.5 to 1.16, large frame, position-independent) has 9.
const maxPrologue = 12

// maxTail bounds the instructions of the part that calls morestack: since 1.17 it
// stores and reloads up to 9 integer and 15 floating-point argument registers.
const maxTail = 64

// StackCheck finds the check in code, the bytes of one whole function. It needs no
// symbols. It is satisfied when
//
//   - only moves, lea, sub and cmp precede the jump, which write nothing but the
//     registers the prologue may spoil (AX, CX, SI up to 1.16, R12, R14 since), and one
//     of them reads stackguard0 or stackguard1: 16(g) or 24(g), g in CX or R14;
//   - the jump is a jbe whose target only calls once, without any other branch, and
//     then jumps to offset 0; or a ja right before such a sequence;
//   - earlier conditional jumps (frames of about 4 kB and up) are jb or je and lead
//     to such a sequence as well;
//   - the whole function decodes (up to the padding of Go 1.4 and 1.5), and no other
//     direct branch in it leads to an instruction after its first, up to and with
//     Post. (In Go 1.4 and 1.5 a function without a frame may begin with a loop
//     and jump back to Post, which then runs more than once.)
//
// Source: stacksplit in cmd/internal/obj/x86/obj6.go of Go 1.5 to 1.26, and in
// liblink/obj6.c of Go 1.4.
func StackCheck(code []byte) (Check, bool) {
	c, ok := findCheck(code)
	if !ok {
		return Check{}, false
	}
	for p := 0; !isPadding(code[p:]); {
		in, err := Decode(code[p:])
		if err != nil {
			return Check{}, false
		}
		own := p <= c.Jump
		p += in.Len
		if own || in.Kind != Jump && in.Kind != CondJump {
			continue
		}
		if target := p + int(in.Rel); 0 < target && target <= c.Post {
			return Check{}, false
		}
	}
	return c, true
}

// isPadding reports whether nothing but zero bytes is left: the linkers up to Go
// 1.5 counted them in the size of the symbol before.
func isPadding(rest []byte) bool {
	for _, b := range rest {
		if b != 0 {
			return false
		}
	}
	return true
}

// findCheck reads the prologue up to the deciding jump.
func findCheck(code []byte) (Check, bool) {
	guard := false
	for p, n := 0, 0; n < maxPrologue; n++ {
		in, err := Decode(code[p:])
		if err != nil {
			return Check{}, false
		}
		next := p + in.Len
		switch in.Kind {
		case Other:
			ok, reads := checkPart(code[p:next], in)
			if !ok {
				return Check{}, false
			}
			guard = guard || reads
		case CondJump:
			target := next + int(in.Rel)
			switch {
			case !guard && in.Cond != condB: // jb: the large frame of 1.17, before the guard is read
				return Check{}, false
			case guard && in.Cond == condBE:
				return Check{Jump: p, Post: next}, target > next && callsMorestack(code, target)
			case guard && in.Cond == condA:
				return Check{Jump: p, Post: target, TakenPasses: true},
					target > next && target < len(code) && callsMorestack(code, next)
			case in.Cond != condB && in.Cond != condE, !callsMorestack(code, target):
				return Check{}, false
			}
		default:
			return Check{}, false
		}
		p = next
	}
	return Check{}, false
}

// Condition nibbles (SDM vol. 1, appendix B).
const (
	condB  = 2
	condE  = 4
	condBE = 6
	condA  = 7
)

// checkPart reports whether the instruction is one that precedes the deciding jump,
// and whether it reads a stack guard.
func checkPart(b []byte, in Inst) (ok, reads bool) {
	const (
		cx, r14 = 1, 14
		spoiled = 1<<0 | 1<<cx | 1<<6 | 1<<12 | 1<<r14

		guard0, guard1 = 16, 24 // offsets in runtime.g
	)
	op := b[in.Prefix]
	if op == 0x3d { // cmp $imm, %rax
		return true, false
	}
	if in.Prefix == 0 || !isREX(b[in.Prefix-1]) || len(b) < in.Prefix+2 {
		return false, false // all the others work on 64 bits
	}
	rex, modrm := b[in.Prefix-1], b[in.Prefix+1]
	reg := modrm>>3&7 | rex<<1&8
	rm := modrm&7 | rex<<3&8
	register := modrm >= 0xc0
	switch op {
	case 0x3b, 0x8b: // cmp, mov
		reads = modrm>>6 == 1 && (rm == cx || rm == r14) && (b[in.Prefix+2] == guard0 || b[in.Prefix+2] == guard1)
		return op == 0x3b || spoiled>>reg&1 != 0, reads
	case 0x8d: // lea
		return spoiled>>reg&1 != 0, false
	case 0x29, 0x89, 0xc7: // sub, mov, mov $imm
		return register && spoiled>>rm&1 != 0, false
	case 0x81, 0x83: // sub $imm, cmp $imm
		return register && spoiled>>rm&1 != 0 && (reg&7 == 5 || reg&7 == 7), false
	}
	return false, false
}

// callsMorestack reports whether the code at p calls once and jumps to offset 0,
// with nothing but other straight-line instructions before and between.
func callsMorestack(code []byte, p int) bool {
	called := false
	for n := 0; n < maxTail && 0 < p && p < len(code); n++ {
		in, err := Decode(code[p:])
		if err != nil {
			return false
		}
		p += in.Len
		switch in.Kind {
		case Other:
		case Call:
			if called {
				return false
			}
			called = true
		case Jump:
			return called && p+int(in.Rel) == 0
		default:
			return false
		}
	}
	return false
}
