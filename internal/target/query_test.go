package target

import (
	"runtime/debug"
	"testing"
)

// TestRelaxGC: when all overlapping callers have restored it, the garbage collector works as before.
func TestRelaxGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	first := relaxGC()
	second := relaxGC()
	first()
	if got := debug.SetGCPercent(1000); got != 1000 {
		t.Errorf("%d%% while one is left", got)
	}
	second()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("%d%% in the end", got)
	}
}
