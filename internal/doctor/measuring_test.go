package doctor

import (
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPanicOfMeasuring: what works beside the reading panics where it is waited for.
func TestPanicOfMeasuring(t *testing.T) {
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "goroutine ") || !strings.Contains(text, "doctor.(*") {
			t.Errorf("panicked with %q", text)
		}
	}()
	m := NewMeasuring(nil, Functions{}, uprobe.Latency, 0) // it asks the file system for features
	m.Start(t.Context())
	m.Take()
	m.Wait()
}

// TestCheckDescriptors checks that a measurement does not start if a run may lack descriptors.
func TestCheckDescriptors(t *testing.T) {
	if checkDescriptors(descriptors) != nil {
		t.Errorf("there is no room for %d files", descriptors)
	}
	var limit syscall.Rlimit
	fixture.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	defer func(was syscall.Rlimit) {
		fixture.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
	}(limit)
	limit.Cur = descriptors // some of which are open
	fixture.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if checkDescriptors(descriptors) == nil {
		t.Errorf("there is room for %d files below %d", descriptors, limit.Cur)
	}
}
