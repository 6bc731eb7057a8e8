package tracefs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestRemove checks that events are disarmed and counted before they are deleted, and stay if they are enabled elsewhere.
func TestRemove(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		f, fake := newFake(t)
		s := start(t, f, Options{Quiet: true, Off: true})
		fixture.NoError(t, s.Extend(t.Context(), moreEvents()))
		s.Join(moreEvents())
		fixture.NoError(t, s.Arm(t.Context(), moreEvents()))
		if on, err := f.readTrimmed("instances", s.Name, "tracing_on"); err != nil || on != "0" {
			t.Errorf("tracing_on %q, %v, want 0", on, err)
		}
		var profile strings.Builder
		for _, ev := range append(testEvents(), moreEvents()...) {
			for _, site := range ev.Sites {
				fmt.Fprintf(&profile, "  /bin/true %-44s %15d\n", ev.Name, site)
			}
		}
		fake.put("uprobe_profile", profile.String())
		if elsewhere {
			fake.put("instances/other/events/"+s.Name+"/entry2_0123456789/enable", "1")
		}
		var hits [][]uint64
		err := s.Remove(map[string]bool{"entry2_0123456789": true}, func(profile [][]uint64) {
			hits = profile
			for _, l := range fake.log {
				if strings.Contains(l, "-:") {
					t.Errorf("%s before the counters were read", l)
				}
			}
		})
		if want := [][]uint64{{0x10, 0x20}, {0x30}, {0x40, 0x50}, {0x60}}; !slices.EqualFunc(hits, want, slices.Equal) {
			t.Errorf("counters %v, want %v", hits, want)
		}
		if elsewhere {
			if err == nil || strings.Contains(strings.Join(fake.log, "\n"), "-:") {
				t.Errorf("removed an event that another instance has enabled: %v", err)
			}
			continue
		}
		fixture.NoError(t, err)
		if len(s.events) != 3 || s.events[2].Name != "return3_0123456789" || !slices.Equal(s.extensions, []int{2}) {
			t.Errorf("events %v, extensions %v", s.events, s.extensions)
		}
		fixture.NoError(t, s.Close())
		if left := fake.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
