package offsets

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSiteAtAgainstObjdump checks that SiteAt accepts exactly the offsets that go tool objdump lists, except for
// instructions that can't be probed.
func TestSiteAtAgainstObjdump(t *testing.T) {
	b := openLines(t, fixture.Current, nil)
	out, err := exec.Command("go", "tool", "objdump", "-s", `^main\.`, b.File().Path()).Output()
	fixture.NoError(t, err)
	boundary := make(map[uint64]bool)
	for _, m := range regexp.MustCompile(`(?m)^\s+\S+:\d+\s+0x([0-9a-f]+)\s`).FindAllStringSubmatch(string(out), -1) {
		addr, err := strconv.ParseUint(m[1], 16, 64)
		fixture.NoError(t, err)
		boundary[addr] = true
	}
	if len(boundary) < 100 {
		t.Fatalf("%d instructions", len(boundary))
	}
	taken := 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if symname.Split(f.Name).Package != "main" {
			continue
		}
		for at := range f.Size {
			s, err := siteAt(b, f, at)
			if boundary[f.Addr+at] {
				if err != nil {
					if errors.Is(err, errNoInstruction) {
						t.Errorf("%s+%#x: %v", f.Name, at, err)
					}
					continue
				}
				taken++
				if s.Addr() != f.Addr+at {
					t.Errorf("%s+%#x: site at %#x", f.Name, at, s.Addr())
				}
				if off, _ := b.File().FileOffset(f.Addr + at); s.Offset() != off {
					t.Errorf("%s+%#x: site at file offset %#x, want %#x", f.Name, at, s.Offset(), off)
				}
			} else if !errors.Is(err, errNoInstruction) {
				t.Errorf("%s+%#x: site at %#x, %v", f.Name, at, s.Addr(), err)
			}
		}
		for _, at := range []uint64{f.Size, f.Size + 1, 1 << 63, 1<<64 - 1} {
			if s, err := siteAt(b, f, at); !errors.Is(err, errNoInstruction) {
				t.Errorf("%s+%#x: site at %#x, %v", f.Name, at, s.Addr(), err)
			}
		}
	}
	if taken < len(boundary)*9/10 {
		t.Errorf("%d of %d instructions taken", taken, len(boundary))
	}
}

func siteAt(b *Binary, f *Func, offset uint64) (Site, error) { return b.Internals().SiteAt(f, offset) }
