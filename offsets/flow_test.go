package offsets

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// optimized are the ways in which testdata/c/flow.c is built for tests that know what
// the compiler makes of it.
var optimized = map[string][]string{
	"plain":     {"-O2"},
	"cet":       {"-O2", "-fcf-protection=full", "-fPIE", "-pie"},
	"fixed":     {"-O2", "-fno-pic", "-no-pie"},
	"stripped":  {"-O2", "-s", "-rdynamic"},
	"no frames": {"-O2", "-fno-asynchronous-unwind-tables"},
}

func TestFlow(t *testing.T) {
	for name, flags := range optimized {
		t.Run(name, func(t *testing.T) {
			b := openPath(t, fixture.Compile(t, "gcc", "c/flow.c", flags...))
			for _, c := range []struct {
				fn               string
				tails, condTails int
				returns          bool
				err              string
			}{
				{fn: "one", returns: true},
				{fn: "tail_direct", tails: 1},
				{fn: "tail_argument", tails: 1},
				{fn: "tail_method", tails: 1},
				{fn: "tail_array", tails: 1},
				{fn: "tail_chosen", tails: 1},
				{fn: "tail_frame", tails: 1},
				{fn: "switch_leaf", returns: true},
				{fn: "switch_frame", returns: true},
				{fn: "goto_leaf", returns: true},
				{fn: "with_cold_part", returns: true},
				{fn: "asm_conditional", condTails: 1, returns: true},
				{fn: "asm_into_middle", err: "into the middle of asm_target"},
				{fn: "asm_computed", err: "may be a switch or a tail call"},
				{fn: "asm_falls", err: "runs on past its end"},
			} {
				t.Run(c.fn, func(t *testing.T) {
					f, ok := b.Lookup(c.fn)
					if !ok {
						t.Fatal("no such function")
					}
					s, err := b.Sites(f)
					if c.err != "" {
						if err == nil || !strings.Contains(err.Error(), c.err) {
							t.Errorf("error %v, want one with %q", err, c.err)
						}
						return
					}
					fixture.NoError(t, err)
					if name == "stripped" && c.fn == "switch_leaf" {
						// Without a symbol its cold part, which needs no frame and does
						// not come back, can't be told from a function.
						c.condTails = len(s.CondTails)
					}
					if len(s.Tails) != c.tails || len(s.CondTails) != c.condTails || (len(s.Returns) > 0) != c.returns {
						t.Errorf("%d returns, %d tail jumps, %d conditional ones; want returns %v, %d, %d",
							len(s.Returns), len(s.Tails), len(s.CondTails), c.returns, c.tails, c.condTails)
					}
					if s.Entry.Addr() != f.Addr || s.Check != nil || s.SplitStack {
						t.Errorf("entry at %#x of a function at %#x, check %v, split stack %v", s.Entry.Addr(), f.Addr, s.Check, s.SplitStack)
					}
				})
			}
		})
	}
}

// TestColdPart: what the compiler has moved away still ends calls, with and without a
// symbol for it.
func TestColdPart(t *testing.T) {
	for _, name := range []string{"plain", "stripped"} {
		t.Run(name, func(t *testing.T) {
			b := openPath(t, fixture.Compile(t, "gcc", "c/flow.c", optimized[name]...))
			f, ok := b.Lookup("with_cold_part")
			if !ok {
				t.Fatal("no with_cold_part")
			}
			c, err := b.decode(f)
			fixture.NoError(t, err)
			parts := c.parts
			if len(parts) != 2 {
				t.Fatalf("%d parts, want 2", len(parts))
			}
			cold, ok := b.Lookup("with_cold_part.cold")
			if ok != (name == "plain") {
				t.Fatalf("symbol of the cold part: %v", ok)
			}
			if !ok {
				return
			}
			if parts[1].addr != cold.Addr {
				t.Errorf("part at %#x, want %#x", parts[1].addr, cold.Addr)
			}
			if _, err := b.Sites(cold); err == nil || !strings.Contains(err.Error(), "part of with_cold_part") {
				t.Errorf("sites of the part alone: error %v", err)
			}
		})
	}
}

// TestConditionalTail: the condition of the jump is that of JNE.
func TestConditionalTail(t *testing.T) {
	b := openPath(t, fixture.Compile(t, "gcc", "c/flow.c", optimized["plain"]...))
	f, _ := b.Lookup("asm_conditional")
	s, err := b.Sites(f)
	if err != nil || len(s.CondTails) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	const jne = 5
	if c := s.CondTails[0]; c.Cost().Cond != jne || c.Addr() != f.Addr+2 {
		t.Errorf("condition %d at +%#x, want %d at +0x2", c.Cost().Cond, c.Addr()-f.Addr, jne)
	}
}
