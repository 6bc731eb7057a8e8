package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
)

// firstGroup is the group of the first session of a process that has probes: those asked for.
func firstGroup(t *testing.T, f *tracefs.FS, pid int) string {
	t.Helper()
	groups, err := filepath.Glob(fmt.Sprintf("%s/events/ftgo_%d_*", f.Dir(), pid)) // which are sorted
	noError(t, err)
	return filepath.Base(append(groups, "none")[0])
}

// awaitHits waits until probes of a process's run are hit again, by the kernel's count: the first
// hits may be from before the run began to count. What measures costs is another session of it.
func awaitHits(t *testing.T, f *tracefs.FS, pid int) {
	t.Helper()
	first := 0
	waitFor(t, "more hits", func() bool {
		events, err := filepath.Glob(f.Dir() + "/events/" + firstGroup(t, f, pid) + "/e[0-9]*")
		noError(t, err)
		profile := readFile(t, f.Dir()+"/uprobe_profile")
		hits := 0
		for _, event := range events {
			for _, m := range regexp.MustCompile(filepath.Base(event)+` +(\d+)`).FindAllStringSubmatch(profile, -1) {
				n, err := strconv.Atoi(m[1])
				noError(t, err)
				hits += n
			}
		}
		if first == 0 {
			first = hits
		}
		return hits > first
	})
}

// number is a count in JSON.
func number(v any) uint64 {
	f, _ := v.(float64)
	return uint64(f)
}
