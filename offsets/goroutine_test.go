package offsets

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestLayout compares the offsets by version with debug information, which also describes anything but an unmodified release.
func TestLayout(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			with := openPath(t, fixture.BuildWith(t, version, "exact"))
			without := openPath(t, fixture.BuildWith(t, version, "exact", "-ldflags=-w"))
			want, err := with.layoutFromDWARF()
			fixture.NoError(t, err)
			got, err := without.layout()
			fixture.NoError(t, err)
			if got.M == 0 { // before Go 1.13
				got.M, got.Curg = want.M, want.Curg
			}
			if got != want {
				t.Errorf("%+v by version, %+v from debug information", got, want)
			}
			d, err := with.debug()
			fixture.NoError(t, err)
			g, _ := d.TypeNamed("runtime.g")
			if at, _, known := without.Internals().WaitReason(); known {
				if off, ok := g.FieldOffset("waitreason"); !ok || off != at {
					t.Errorf("waitreason at %d, %d by debug information", at, off)
				}
			}
			if l, err := without.Internals().Layout(); err == nil && l.M > 0 {
				if pc, ok := g.FieldOffset("sched", "pc"); !ok || pc != want.M+16 { // events fetch it
					t.Errorf("sched.pc at %d, m at %d", pc, want.M)
				}
			}
			for name, at := range without.goVer.Goroutine() {
				if off, ok := g.FieldOffset(strings.Split(name, ".")...); !ok || off != at {
					t.Errorf("%s at %d, %d by debug information", name, at, off)
				}
			}
			if fields, err := with.Internals().Goroutine(); (err == nil) != (with.goVer.Minor >= 17) || err == nil && fields["goid"] != want.Goid {
				t.Errorf("%v, %v", fields, err)
			}
			if l, err := without.layoutFromDWARF(); err == nil {
				t.Errorf("-w left debug information: %+v", l)
			}
			for text, version := range map[string]gotab.Version{
				"modified": {Minor: with.goVer.Minor - 1, Text: "go1.24.0 X:nocoverageredesign"}, "development": {Minor: 24, Devel: true}, "unknown": {Minor: 99, Text: "go1.99.1"},
			} {
				with.goVer = version
				if got, err := with.readLayout(); err != nil || got != want {
					t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
				}
			}
		})
	}
}
