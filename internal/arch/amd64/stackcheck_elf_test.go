package amd64

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// TestStackCheckAgreesWithSymbols compares what StackCheck finds in bytes alone with
// what the symbols say: a function has a check exactly when it calls
// runtime.morestack.
func TestStackCheckAgreesWithSymbols(t *testing.T) {
	path := goTool(t)
	fns := functions(t, path)
	morestack := map[uint64]bool{}
	for _, fn := range fns {
		if strings.HasPrefix(fn.name, "runtime.morestack") {
			morestack[fn.addr] = true
		}
	}
	if len(morestack) == 0 {
		t.Fatalf("%s has no runtime.morestack", path)
	}
	with, without := 0, 0
	for _, fn := range fns {
		if morestack[fn.addr] {
			continue
		}
		calls := false
		for p := 0; p < len(fn.code); {
			in, err := decode(fn.code[p:])
			if err != nil {
				break
			}
			p += in.Len
			if in.Kind == arch.Call && morestack[fn.addr+uint64(int64(p-in.Len)+in.To)] {
				calls = true
			}
		}
		check, found := Processor.StackCheck(fn.code)
		if found != calls {
			t.Errorf("%s: check found: %v, calls morestack: %v", fn.name, found, calls)
		}
		if !found {
			without++
			continue
		}
		with++
		jump, err := decode(fn.code[check.Jump:])
		if err != nil || jump.Kind != arch.CondJump {
			t.Errorf("%s: no conditional jump at +%#x", fn.name, check.Jump)
		}
		if check.Post <= check.Jump || check.Post >= len(fn.code) {
			t.Errorf("%s: jump +%#x, post +%#x of %#x", fn.name, check.Jump, check.Post, len(fn.code))
		}
	}
	t.Logf("%d functions with a check, %d without", with, without)
	if with < 500 || without < 100 {
		t.Errorf("%d functions with a check, %d without: too few to mean anything", with, without)
	}
}
