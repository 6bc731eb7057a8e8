package main

import (
	"regexp"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCountFirst: of more functions than can be timed at once, probe counts calls first; trace
// shows them all, and counts none.
func TestCountFirst(t *testing.T) {
	target := fixture.Build(t, "exact")
	counter := regexp.MustCompile(`(?m)^p:ftgo/n[0-9]+_`)
	for command, counts := range map[string]bool{"probe": true, "trace": false} {
		r := ftgo(t, command, "--dry-run", target, "runtime.*")
		if r.code != 0 || counter.MatchString(r.stdout) != counts {
			t.Errorf("%s: status %d, counts calls: %v, want %v\n%s", command, r.code, counter.MatchString(r.stdout), counts, r.stderr)
		}
	}
}
