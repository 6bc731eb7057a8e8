package amd64

import (
	"path/filepath"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// x86asmLen is the length x86asm finds, and whether it has an opinion: an opcode it
// knows (ENDBR64 gets Op 0) that it does not mistake for one of 32-bit mode (les,
// lds, bound, pop for VEX, EVEX and XOP). Behind 0f 20 to 23 it reads a memory
// operand that processors do not.
func x86asmLen(code []byte, in inst) (n int, ok bool) {
	op := code[in.Prefix:]
	switch {
	case op[0] == 0xc4, op[0] == 0xc5, op[0] == 0x62, op[0] == 0x8f:
		return 0, false
	case op[0] == 0x0f && op[1]&^3 == 0x20:
		return 0, false
	}
	other, err := x86asm.Decode(code, 64)
	return other.Len, err == nil && other.Op != 0
}

func TestX86asmOpcodeMaps(t *testing.T) {
	compared := 0
	for _, e := range encodings() {
		in, err := decode(e.code)
		if err != nil {
			continue
		}
		if n, ok := x86asmLen(e.code, in); ok {
			compared++
			if n != in.Len {
				t.Errorf("%s: length %d, x86asm %d", e, in.Len, n)
			}
		}
	}
	t.Logf("%d lengths equal", compared)
	if compared < 100_000 {
		t.Errorf("only %d encodings compared", compared)
	}
}

func TestX86asmRealCode(t *testing.T) {
	for _, path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			fns := functions(t, path)
			if testing.Short() && len(fns) > sampleFunctions {
				fns = fns[:sampleFunctions]
			}
			compared, silent := 0, 0
			for _, fn := range fns {
				for p := 0; p < len(fn.code); {
					in, err := decode(fn.code[p:])
					if err != nil {
						break // TestObjdump judges it
					}
					if n, ok := x86asmLen(fn.code[p:], in); !ok {
						silent++
					} else if compared++; n != in.Len {
						t.Errorf("%s+%#x: % x: length %d, x86asm %d", fn.name, p, window(fn.code, p), in.Len, n)
					}
					p += in.Len
				}
			}
			t.Logf("%d lengths equal, x86asm silent on %d instructions", compared, silent)
			if compared < 3*len(fns) {
				t.Errorf("only %d instructions compared in %d functions", compared, len(fns))
			}
		})
	}
}
