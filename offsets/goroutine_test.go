package offsets

import (
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestLayout compares the offsets by version with debug information.
func TestLayout(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			with := openPath(t, fixture.BuildWith(t, version, "exact"))
			without := openPath(t, fixture.BuildWith(t, version, "exact", "-ldflags=-w"))
			want, err := with.layoutFromDWARF()
			fixture.NoError(t, err)
			got, err := without.layout()
			fixture.NoError(t, err)
			if got != want {
				t.Errorf("%+v by version, %+v from debug information", got, want)
			}
			if at, _, known := without.Internals().WaitReason(); known {
				d, err := with.debug()
				fixture.NoError(t, err)
				g, err := d.Struct("runtime.g", "runtime")
				fixture.NoError(t, err)
				if off, ok := g.FieldOffset("waitreason"); !ok || off != at {
					t.Errorf("waitreason at %d, %d by debug information", at, off)
				}
			}
			if m, curg, known := without.Internals().Running(); known {
				with.goVer.Devel, with.goVer.Text = true, "devel" // so that the table is not used
				if d, err := with.debug(); err != nil {
					t.Error(err)
				} else if g, err := d.Struct("runtime.g", "runtime"); err != nil {
					t.Error(err)
				} else if pc, ok := g.FieldOffset("sched", "pc"); !ok || pc != m+16 { // events fetch it
					t.Errorf("sched.pc at %d, m at %d", pc, m)
				}
				if m2, curg2, known := with.Internals().Running(); !known || m2 != m || curg2 != curg {
					t.Errorf("m at %d, curg at %d by version, %d and %d by debug information", m, curg, m2, curg2)
				}
			}
			if l, err := without.layoutFromDWARF(); err == nil {
				t.Errorf("-w left debug information: %+v", l)
			}
		})
	}
}

// TestLayoutOfOthers checks that anything but an unmodified release has the layout of its debug information.
func TestLayoutOfOthers(t *testing.T) {
	for _, c := range []struct {
		text  string
		minor int
		devel bool
	}{
		{"go1.24.0 X:nocoverageredesign", 24, false},
		{"go1.24.0 (Red Hat 1.24.0-1.el9)", 24, false},
		{"go1.24rc1", 24, false},
		{"devel go1.24-abcdef", 24, true},
		{"go1.99.1", 99, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			b := openFixture(t, "exact")
			want, err := b.layoutFromDWARF()
			fixture.NoError(t, err)
			version := gotab.Version{Text: c.text, Minor: c.minor, Devel: c.devel}
			if table, _ := version.Goid(); table == want.goid {
				t.Fatalf("Go 1.%d has the same layout", c.minor)
			}
			b.goVer = version
			if got, err := b.layout(); err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		})
	}
}
