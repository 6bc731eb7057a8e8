package amd64

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestAgrees: instructions whose length x86asm gets wrong don't count against ours.
func TestAgrees(t *testing.T) {
	for _, c := range []struct{ scenario, code string }{
		{"mov from cr0", "0f 20 c0"},
		{"mov to cr3, mod 0", "0f 22 1c 24 90 90"},
		{"mov from dr7, mod 1", "0f 21 7c 00 00 90"},
		{"vzeroupper", "c5 f8 77"},
		{"vpaddd zmm", "62 f1 7d 48 fe c1"},
		{"endbr64", "f3 0f 1e fa"},
		{"ret", "c3"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			code := unhex(t, c.code)
			in, err := decode(code)
			fixture.NoError(t, err)
			if !agrees(code, &in) {
				t.Errorf("decoders disagree on %s, length %d", c.code, in.Len)
			}
			in.Len++
			if known := x86asmKnows(code[in.Prefix : in.Len-1]); known && c.scenario == "ret" && agrees(append(code, 0), &in) {
				t.Error("a wrong length passed")
			}
		})
	}
}

// TestAgreesOnOpcodeMaps: so it is with each opcode of each map.
func TestAgreesOnOpcodeMaps(t *testing.T) {
	compared := 0
	for _, e := range encodings() {
		in, err := decode(e.code)
		if err != nil {
			continue
		}
		if compared++; !agrees(e.code, &in) {
			t.Errorf("%s: decoders disagree, length %d", e, in.Len)
		}
	}
	if compared < 100_000 {
		t.Errorf("only %d encodings compared", compared)
	}
}
