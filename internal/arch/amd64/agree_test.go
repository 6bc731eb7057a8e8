package amd64

import (
	"encoding/hex"
	"strings"
	"testing"
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
			code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			in, err := decode(code)
			if err != nil {
				t.Fatal(err)
			}
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
