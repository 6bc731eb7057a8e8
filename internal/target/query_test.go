package target

import (
	"runtime/debug"
	"testing"
)

// TestCollectRarely: however several overlap, garbage is looked for as before in the end.
func TestCollectRarely(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	first := collectRarely()
	second := collectRarely()
	first()
	if got := debug.SetGCPercent(1000); got != 1000 {
		t.Errorf("%d%% while one is left", got)
	}
	second()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("%d%% in the end", got)
	}
}
