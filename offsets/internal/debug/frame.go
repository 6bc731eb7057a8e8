package debug

import (
	"encoding/binary"

	"github.com/ftgo/ftgo/offsets/arch"
)

// FrameRule tells where the canonical frame address is, which is the value of SP
// before the call: a register and a distance.
type FrameRule struct {
	Register uint64 // DWARF's number
	offset   int64
	Computed bool // by an expression instead
}

// Entered reports whether SP is what it was when the function was entered.
func (f FrameRule) Entered(m *arch.Machine) bool {
	return f.Register == m.DwarfSP && f.offset == m.CFA && !f.Computed
}

// FrameAt tells where the frame is before the instruction at addr is executed; ok is false if
// nothing is known of that.
func (t Unwind) FrameAt(addr uint64) (f FrameRule, ok bool) {
	e, ok := t.At(addr)
	if !ok {
		return f, false
	}
	m := frameMachine{entry: e, until: addr - e.Addr}
	if !m.run(e.common.program) || !m.run(e.program) {
		return f, false
	}
	return m.rule, true
}

// frameMachine executes the programs of an entry, as far as they tell the frame
// address.
type frameMachine struct {
	entry *UnwindEntry
	at    uint64 // behind the entry's start
	until uint64
	rule  FrameRule
	saved []FrameRule
}

const (
	maxSavedRules = 64 // compilers nest one or two
	// maxFrameProgram is how many bytes of a program are executed: thousands of functions may
	// be in one entry.
	maxFrameProgram = 1 << 14
)

// run executes a program up to the address looked for; false if it can't.
func (m *frameMachine) run(program []byte) bool {
	r := &reader{data: program}
	for r.at < len(r.data) {
		if r.at > maxFrameProgram {
			return false
		}
		op := r.u8()
		switch op >> 6 {
		case 1: // DW_CFA_advance_loc
			if m.advance(uint64(op & 0x3f)) {
				return true
			}
			continue
		case 2: // DW_CFA_offset
			r.uleb()
			continue
		case 3: // DW_CFA_restore
			continue
		}
		var past, known bool
		if past, known = m.step(op, r); !known || r.bad {
			return false
		}
		if past {
			return true
		}
	}
	return !r.bad
}

// advance moves on by some units; true if that leads past the address looked for.
func (m *frameMachine) advance(units uint64) bool {
	m.at += units * uint64(m.entry.common.codeAlign)
	return m.at > m.until
}

// step executes one of the instructions whose opcode takes all of its byte.
func (m *frameMachine) step(op byte, r *reader) (past, known bool) {
	c := m.entry.common
	switch op {
	case 0x00: // DW_CFA_nop
	case 0x02: // DW_CFA_advance_loc1
		past = m.advance(uint64(r.u8()))
	case 0x03: // DW_CFA_advance_loc2
		past = m.advance(uint64(binary.LittleEndian.Uint16(r.take(2))))
	case 0x04: // DW_CFA_advance_loc4
		past = m.advance(uint64(binary.LittleEndian.Uint32(r.take(4))))
	case 0x06, 0x07, 0x08, 0x2e: // restore_extended, undefined, same_value, GNU_args_size
		r.uleb()
	case 0x05, 0x09, 0x14, 0x2f: // offset_extended, register, val_offset, GNU_negative_offset_extended
		r.uleb()
		r.uleb()
	case 0x11, 0x15: // offset_extended_sf, val_offset_sf
		r.uleb()
		r.sleb()
	case 0x10, 0x16: // expression, val_expression
		r.uleb()
		r.skip()
	case 0x0a: // remember_state
		if len(m.saved) == maxSavedRules {
			return false, false
		}
		m.saved = append(m.saved, m.rule)
	case 0x0b: // restore_state
		if len(m.saved) == 0 {
			return false, false
		}
		m.rule = m.saved[len(m.saved)-1]
		m.saved = m.saved[:len(m.saved)-1]
	case 0x0c: // def_cfa
		m.rule = FrameRule{Register: r.uleb(), offset: int64(r.uleb())}
	case 0x0d: // def_cfa_register
		m.rule.Register = r.uleb()
	case 0x0e: // def_cfa_offset
		m.rule.offset = int64(r.uleb())
	case 0x0f: // def_cfa_expression
		m.rule = FrameRule{Computed: true}
		r.skip()
	case 0x12: // def_cfa_sf
		m.rule = FrameRule{Register: r.uleb(), offset: r.sleb() * c.dataAlign}
	case 0x13: // def_cfa_offset_sf
		m.rule.offset = r.sleb() * c.dataAlign
	default:
		return false, false
	}
	return past, true
}
