package offsets

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// optimized has the flags with which testdata/c/flow.c is built for tests that know the compiler's output.
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
					f := lookup(t, b, c.fn)
					s, err := b.Sites(f)
					if c.err != "" {
						if err == nil || !strings.Contains(err.Error(), c.err) {
							t.Errorf("error %v, want one with %q", err, c.err)
						}
						return
					}
					fixture.NoError(t, err)
					if name == "stripped" && c.fn == "switch_leaf" {
						// Without a symbol, its cold part, which has no frame and does not jump back, looks like
						// another function.
						c.condTails = len(s.CondTails)
					}
					if len(s.Tails) != c.tails || len(s.CondTails) != c.condTails || (len(s.Returns) > 0) != c.returns {
						t.Errorf("%d returns, %d tail jumps, %d conditional ones; want returns %v, %d, %d",
							len(s.Returns), len(s.Tails), len(s.CondTails), c.returns, c.tails, c.condTails)
					}
					const jne = 5
					if tails := s.CondTails; c.fn == "asm_conditional" && (tails[0].Cost().Cond != jne || tails[0].Addr() != f.Addr+2) {
						t.Errorf("jump %+v, want a JNE at +0x2", tails[0])
					}
					if s.Entry.Addr() != f.Addr || s.Check != nil || s.SplitStack {
						t.Errorf("entry at %#x of a function at %#x, check %v, split stack %v", s.Entry.Addr(), f.Addr, s.Check, s.SplitStack)
					}
				})
			}
		})
	}
}

// TestColdPart checks that a function includes its cold part, with and without a symbol for the part.
func TestColdPart(t *testing.T) {
	for _, name := range []string{"plain", "stripped"} {
		t.Run(name, func(t *testing.T) {
			b := openPath(t, fixture.Compile(t, "gcc", "c/flow.c", optimized[name]...))
			f := lookup(t, b, "with_cold_part")
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

// begins returns the sites that may count as the beginning of a call.
func begins(s *Sites) []Site {
	if s.Branch != nil {
		return []Site{s.Entry, *s.Branch}
	}
	return []Site{s.Entry}
}

// TestBranchReached checks all direct branches of programs: none may lead to an instruction after a function's start,
// up to its Branch site.
func TestBranchReached(t *testing.T) {
	files := map[string]*Binary{
		"go":           goTool(t),
		"Go 1.16":      openPath(t, fixture.BuildWith(t, "1.16.15", "exact")),
		"C, endbr64":   openPath(t, fixture.Compile(t, "gcc", "c/flow.c", "-O2", "-fcf-protection=full")),
		"C, unordered": openPath(t, fixture.Compile(t, "gcc", "c/flow.c", "-O1", "-fcf-protection=full")),
	}
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			type span struct{ start, branch uint64 }
			var spans []span
			for i := range b.Funcs() {
				f := &b.Funcs()[i]
				s, err := b.Sites(f)
				if err != nil || s.Branch == nil {
					continue
				}
				if s.Check != nil || s.Late || s.Entry.Addr() != f.Addr || s.Branch.Addr() <= f.Addr || s.Branch.Cost().Stepped() {
					t.Errorf("%s: %+v", f.Name, s)
				}
				spans = append(spans, span{f.Addr, s.Branch.Addr()})
			}
			if len(spans) == 0 {
				t.Fatal("no function has one")
			}
			slices.SortFunc(spans, func(a, b span) int { return int(int64(a.start - b.start)) })
			for i := range b.Funcs() {
				f := &b.Funcs()[i]
				code, err := b.code(f)
				if err != nil {
					continue
				}
				for at := 0; at < len(code); {
					in, err := b.image.Processor.Decode(code[at:])
					if err != nil {
						break
					}
					to := f.Addr + uint64(at) + uint64(in.To)
					at += in.Len
					if in.Kind != arch.Jump && in.Kind != arch.CondJump && in.Kind != arch.Call {
						continue
					}
					k := sort.Search(len(spans), func(i int) bool { return spans[i].branch >= to })
					if k < len(spans) && spans[k].start < to {
						t.Errorf("%s%+#x leads to %#x, between %#x and %#x", f.Name, at-in.Len, to, spans[k].start, spans[k].branch)
					}
				}
			}
		})
	}
}
