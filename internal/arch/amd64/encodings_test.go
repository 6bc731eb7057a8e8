package amd64

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestOpcodeMaps tries every opcode of every map, under every mandatory prefix, with
// a choice of ModRM bytes, on objdump and on Decode. Lengths must be equal, and
// opcodes only one of them knows must be listed. Decode may accept more operands.
func TestOpcodeMaps(t *testing.T) {
	fixture.NeedLong(t)
	if testing.Short() {
		t.Skip("-short: disassembling all opcodes takes about 10 s")
	}
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed: the opcode maps are not cross-checked")
	}
	const slot = 32 // an encoding, then enough one-byte nops to be in step again
	records := encodings()
	raw := make([]byte, 0, slot*len(records))
	for _, r := range records {
		raw = append(raw, r.code...)
		for len(raw)%slot != 0 {
			raw = append(raw, 0x90)
		}
	}
	path := filepath.Join(t.TempDir(), "encodings.bin")
	fixture.NoError(t, os.WriteFile(path, raw, 0o600))
	type line struct {
		len  int
		text string
	}
	lines := make([]line, len(records))
	cmd := exec.Command(objdump, "-D", "-w", "-b", "binary", "-m", "i386:x86-64", path)
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	fixture.NoError(t, err)
	for text := range strings.Lines(string(out)) {
		// "  20:	0f 05                	syscall"
		addr, text, _ := strings.Cut(text, ":\t")
		if at, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); err == nil && at%slot == 0 {
			raw, text, _ := strings.Cut(text, "\t")
			lines[at/slot] = line{len(strings.Fields(raw)), text}
		}
	}
	known := map[encodingKey]bool{} // objdump accepts some operands
	for i, r := range records {
		if lines[i].len == 0 {
			t.Fatalf("%s: objdump out of step", r)
		}
		known[r.encodingKey] = known[r.encodingKey] || !isBad(lines[i].text)
	}
	equal := 0
	for i, r := range records {
		dump := lines[i]
		in, err := decode(r.code)
		switch bad := isBad(dump.text); {
		case err == nil && !bad:
			if in.Len == dump.len {
				equal++
			} else if r.op != 0x9b { // objdump merges fwait with x87 instructions
				t.Errorf("%s: length %d, objdump %d: %s", r, in.Len, dump.len, dump.text)
			}
		case err == nil && !known[r.encodingKey] && !isNewer(r.encodingKey):
			t.Errorf("%s: length %d, objdump knows no such opcode", r, in.Len)
		case err != nil && !bad && !isDoubtful(r):
			t.Errorf("%s: %v, objdump: %s", r, err, dump.text)
		}
	}
	t.Logf("%d encodings, %d lengths equal", len(records), equal)
	if equal < len(records)/4 {
		t.Errorf("only %d of %d lengths compared", equal, len(records))
	}
}

// isNewer lists what objdump 2.40 does not know yet: AMX-COMPLEX, SHA512,
// AVX-VNNI-INT16, SM3 and SM4.
func isNewer(e encodingKey) bool {
	switch e.table {
	case "vex 2":
		return strings.Contains("\x6c\xcb\xcc\xcd\xd2\xd3\xda", string([]byte{e.op}))
	case "vex 3":
		return e.op == 0xde
	}
	return false
}

// isDoubtful tells what objdump decodes and Decode refuses: branches with 66, which
// makers of processors read in different ways; reserved segment registers and
// 8087 instructions that later processors ignore; opcodes that objdump accepts
// with mandatory prefixes they are not defined with.
func isDoubtful(e encoding) bool {
	switch e.table {
	case "one-byte":
		branch := e.op>>4 == 7 || e.op&^3 == 0xe0 || e.op&^3 == 0xe8
		return branch && e.pp == 1 || e.op == 0x8c || e.op == 0x8e || e.op == 0xdb
	case "0f":
		return e.op>>4 == 8 && e.pp == 1
	case "vex 1":
		return e.pp != 0 && (e.op == 0x77 || e.op == 0xae)
	case "evex 2":
		return e.pp != 1 && (e.op == 0x4e || e.op == 0x50 || e.op == 0x51)
	case "evex 3":
		return e.pp != 1 && (e.op == 0x42 || e.op == 0x70 || e.op == 0x72)
	}
	return false
}

// isBad reports whether objdump's text says that there is no instruction: (bad), or a
// prefix that stands alone.
func isBad(text string) bool {
	return strings.Contains(text, "(bad)") || strings.HasPrefix(text, "rex") && !strings.Contains(strings.TrimSpace(text), " ")
}

// encoding is one try: an opcode of a map under one of the four mandatory
// prefixes (in the order of pp), with operands.
type encoding struct {
	encodingKey
	code []byte
}

type encodingKey struct {
	table string
	op    byte
	pp    int
}

func (e encoding) String() string { return fmt.Sprintf("%s %02x: % x", e.table, e.op, e.code) }

// encodings lists the tries: every ModRM byte where it takes part in a legacy
// encoding, one memory and one register form elsewhere.
func encodings() (all []encoding) {
	const tail = "\x25\x11\x22\x33\x44\x55\x66\x77\x88"
	pps := []string{"", "\x66", "\xf3", "\xf2"}
	var every, byReg []byte
	for b := range 256 {
		every = append(every, byte(b))
		if b&0xc7 == 0x44 || b&0xc7 == 0xc1 || b == 0xc0 {
			byReg = append(byReg, byte(b))
		}
	}
	pair := []byte{0x44, 0xc1}
	add := func(table string, op, pp int, head string, modrms []byte) {
		for _, m := range modrms {
			all = append(all, encoding{encodingKey{table, byte(op), pp}, []byte(head + string([]byte{byte(op), m}) + tail)})
		}
	}
	for op := range 256 {
		vectorForms := pair
		switch op {
		case 0x71, 0x72, 0x73, 0xae, 0xc6, 0xc7, 0xf3, 0x01, 0x02, 0x12, // groups of VEX, EVEX, XOP
			0x49, 0x5c, 0x5e: // AMX, which wants three different registers
			vectorForms = byReg
		}
		escape := op == 0x0f || op == 0x62 || op == 0xc4 || op == 0xc5 || op == 0xd5
		for pp, prefix := range pps {
			modrms := byReg
			if pp == 0 || op == 0x01 || op == 0xae || op == 0xc7 { // 0f groups that prefixes select from
				modrms = every
			}
			if legacyPrefix[op] == 0 && !isREX(byte(op)) && !escape {
				add("one-byte", op, pp, prefix, modrms)
				add("one-byte", op, pp, prefix+"\x48", byReg)
			}
			if op != 0x38 && op != 0x3a && op != 0x0f {
				add("0f", op, pp, prefix+"\x0f", modrms)
				add("0f", op, pp, prefix+"\x48\x0f", byReg)
			}
			add("0f 38", op, pp, prefix+"\x0f\x38", byReg)
			add("0f 3a", op, pp, prefix+"\x0f\x3a", byReg)
			// Some opcodes exist with one W, L or vvvv (unused: ones) only.
			for _, wvl := range []byte{0x78, 0x7c, 0xf8, 0xfc, 0x70, 0x74, 0xf0, 0xf4} {
				for m := byte(1); m <= 3; m++ {
					add(fmt.Sprintf("vex %d", m), op, pp, string([]byte{0xc4, 0xe0 | m, wvl | byte(pp)}), vectorForms)
				}
				for m := byte(8); m <= 10 && wvl&4 == 0; m++ {
					add(fmt.Sprintf("xop %d", m), op, pp, string([]byte{0x8f, 0xe0 | m, wvl | byte(pp)}), vectorForms)
				}
				// 512 bits with a mask for scatters and gathers, without for the
				// rest; the bit of L is a fixed 1 here.
				for _, last := range []byte{0x48, 0x49} {
					for _, m := range []byte{1, 2, 3, 5, 6} {
						add(fmt.Sprintf("evex %d", m), op, pp, string([]byte{0x62, 0xf0 | m, wvl | 4 | byte(pp), last &^ (wvl << 4 & 0x40)}), vectorForms)
					}
				}
			}
		}
		all = append(all, encoding{encodingKey{"3dnow", byte(op), 0}, []byte{0x0f, 0x0f, 0xc1, byte(op)}})
	}
	return all
}
