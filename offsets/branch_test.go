package offsets

import (
	"slices"
	"sort"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// begins are the sites that may stand for a function's beginning.
func begins(s *Sites) []Site {
	if s.Branch != nil {
		return []Site{s.Entry, *s.Branch}
	}
	return []Site{s.Entry}
}

// TestBranchReached goes through all direct branches of programs: none, of whatever
// function, may lead to behind a function's start, as far as to what stands for it.
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
