package amd64

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

func FuzzDecode(f *testing.F) {
	for _, tt := range straight {
		f.Add(unhex(f, tt.code+"c3"))
	}
	for _, e := range encodings() {
		if e.op%16 == 1 && e.pp == 1 {
			f.Add(e.code)
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		in, err := decode(code)
		if err != nil {
			if in != (inst{}) {
				t.Errorf("%+v with error %v", in, err)
			}
			if errors.Is(err, errTruncated) == errors.Is(err, errUnknown) {
				t.Errorf("error %v is not one of the two", err)
			}
			if errors.Is(err, errTruncated) && len(code) >= maxLen {
				t.Errorf("%v, but there are %d bytes", err, len(code))
			}
			return
		}
		if in.Len < 1 || in.Len > maxLen || in.Len > len(code) || in.Prefix < 0 || in.Prefix >= in.Len {
			t.Fatalf("%+v of %d bytes", in, len(code))
		}
		if direct := in.Kind == arch.Jump || in.Kind == arch.CondJump || in.Kind == arch.Call; !direct && in.To != 0 {
			t.Errorf("%v to %d", in.Kind, in.To)
		}
		if in.Cond != arch.NoCond && (in.Kind != arch.CondJump || in.Cond > 15) {
			t.Errorf("%v with condition %d", in.Kind, in.Cond)
		}
		if alone, err := decode(code[:in.Len]); err != nil || alone != in {
			t.Errorf("alone %+v, %v; with more behind %+v", alone, err, in)
		}
		inverted := append([]byte(nil), code...)
		for i := in.Len; i < len(inverted); i++ {
			inverted[i] ^= 0xff
		}
		if other, err := decode(inverted); err != nil || other != in {
			t.Errorf("with other bytes behind %+v, %v; before %+v", other, err, in)
		}
		if _, err := decode(code[:in.Len-1]); !errors.Is(err, errTruncated) {
			t.Errorf("one byte less: %v, want %v", err, errTruncated)
		}
		if !agrees(code, &in) {
			t.Errorf("decoders disagree, length %d", in.Len)
		}
		cost := Processor.Cost(code, 0)
		if cost.Emulated && (cost.Later != "" || cost.Refused != "") || cost.Later != "" && cost.Refused != "" {
			t.Errorf("cost %+v", cost)
		}
	})
}

// FuzzAlike: code is like itself, and what passes for like it under strict eyes is the same.
func FuzzAlike(f *testing.F) {
	for _, tt := range straight {
		f.Add(unhex(f, tt.code+"c3"), unhex(f, tt.code+"c3"))
	}
	f.Add(unhex(f, "488d1502ea1400c3"), unhex(f, "488d15eae91400c3")) // lea 0x14ea02(%rip),%rdx
	f.Fuzz(func(t *testing.T, x, y []byte) {
		const addr = 0x401000
		equal := func(x, y uint64, _ bool) bool { return x == y }
		if at, ok := Processor.Alike(x, x, addr, equal); !ok {
			t.Errorf("%x differs from itself at %d", x, at)
		}
		if at, ok := Processor.Alike(x, y, addr, equal); ok != bytes.Equal(x, y) {
			t.Errorf("%x and %x: %v at %d", x, y, ok, at)
		}
		any := func(uint64, uint64, bool) bool { return true }
		if at, ok := Processor.Alike(x, y, addr, any); ok && len(x) != len(y) || !ok && at > len(x) {
			t.Errorf("%x and %x: %v at %d", x, y, ok, at)
		}
	})
}

func FuzzStackCheck(f *testing.F) {
	for _, tt := range checked {
		f.Add(unhex(f, tt.code))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		c, ok := arch.StackCheck(Processor, code, arch.Instructions(Processor, code))
		if !ok {
			if c != (arch.Check{}) {
				t.Errorf("%+v without a check", c)
			}
			return
		}
		arch.Spilled(Processor, code, c)
		in, err := decode(code[c.Jump:])
		if err != nil || in.Kind != arch.CondJump || in.Cond != condBE && in.Cond != condA {
			t.Fatalf("%+v: %+v, %v at the jump", c, in, err)
		}
		next := c.Jump + in.Len
		if in.Cond == condA {
			next = c.Jump + int(in.To)
		}
		if c.Post != next || c.Post > len(code) {
			t.Errorf("%+v: the jump passes to %#x of %#x", c, next, len(code))
		}
	})
}
