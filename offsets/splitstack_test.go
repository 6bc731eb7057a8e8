package offsets

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestSplitStack(t *testing.T) {
	for name, want := range map[string]bool{"-fsplit-stack": true, "-fno-split-stack": false} {
		b := openPath(t, fixture.Compile(t, "gcc", "c/mallocs.c", "-O0", name))
		f, ok := b.Lookup("main")
		if !ok {
			t.Fatal("no main")
		}
		s, err := b.Sites(f)
		fixture.NoError(t, err)
		if s.SplitStack != want {
			t.Errorf("%s: split stack %v", name, s.SplitStack)
		}
	}
}

// TestGccgoSites: Go's names, C's convention, and a stack that is split.
func TestGccgoSites(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-static-libgo"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			path := fixture.Compile(t, "gccgo", "gccgo/add.go", flags...)
			// __morestack, which is called before a frame is made, and its kin are
			// among few functions unless libgo is there, too.
			mayRefuse := 0.05
			if slices.Contains(flags, "-static-libgo") {
				fixture.NeedLong(t)
				mayRefuse = maxRefused
			}
			againstObjdump(t, path, mayRefuse)
			b := openPath(t, path)
			f, ok := b.Lookup("main.add")
			if !ok {
				t.Fatal("no main.add")
			}
			if f.ABI != SystemV {
				t.Errorf("ABI is %v", f.ABI)
			}
			s, err := b.Sites(f)
			fixture.NoError(t, err)
			if len(s.Returns) == 0 || s.Entry.Addr() != f.Addr {
				t.Errorf("%d returns, entry at %#x of a function at %#x", len(s.Returns), s.Entry.Addr(), f.Addr)
			}
			if f, ok = b.Lookup("main.main"); !ok {
				t.Fatal("no main.main")
			}
			if s, err = b.Sites(f); err != nil || !s.SplitStack {
				t.Errorf("main.main: %+v, %v; want a split stack", s, err)
			}
		})
	}
}
