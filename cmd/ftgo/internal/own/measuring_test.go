package own

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// TestPanicOfMeasuring: what works beside the reading panics where it is waited for.
func TestPanicOfMeasuring(t *testing.T) {
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "goroutine ") || !strings.Contains(text, "own.(*") {
			t.Errorf("panicked with %q", text)
		}
	}()
	m := New(nil, Functions{}, uprobe.Latency, 0) // it asks the file system for features
	m.Begin(t.Context())
	m.Take()
	m.Wait()
}
