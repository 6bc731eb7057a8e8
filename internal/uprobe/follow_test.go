package uprobe

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestFollow checks that the creation of goroutines is probed in every version of Go whose newproc1 returns the
// goroutine.
func TestFollow(t *testing.T) {
	for version, follows := range map[string]bool{"1.12.17": false, "1.16.15": true, "1.17.13": true, "1.20.14": true, "1.23.12": true, fixture.Current: true} {
		t.Run(version, func(t *testing.T) {
			variants := [][]string{nil}
			if version == fixture.Current {
				variants = append(variants, []string{"-ldflags=-s -w"})
			}
			if version == fixture.Current && fixture.Long() {
				variants = append(variants, []string{"-gcflags=all=-N -l"}, []string{"-buildmode=pie"})
			}
			for _, flags := range variants {
				b := binaries.Open(t, fixture.BuildWith(t, version, "nest", flags...))
				for _, follow := range []bool{true, false} {
					p := planIn(t, b, Options{Mode: Latency, Features: modern, Follow: follow}, "main.fact")
					for name, in := range map[string]bool{"runtime.bgsweep": true, "runtime.forcegchelper": true, "main.fact": false, "main.main": false, "runtime.corostart": false} {
						if f, ok := b.Lookup(name); ok && p.InRuntime(f.Addr) != (in && p.Follows) {
							t.Errorf("%v: %s is the runtime's: %v", flags, name, !in)
						}
					}
					sites := 0
					for _, ev := range p.Events {
						if ev.Sites[0].Kind == Creation {
							sites += len(ev.Sites)
						}
					}
					if p.Follows != (follow && follows) || p.Follows != (sites > 0) {
						t.Errorf("%v, follow %v: follows %v, at %d places", flags, follow, p.Follows, sites)
					}
				}
			}
		})
	}
}
