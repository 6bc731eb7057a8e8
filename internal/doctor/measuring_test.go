package doctor

import (
	"os"
	"strings"
	"sync/atomic"
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

// TestCheckDescriptors: who asks for room takes none of it, not even for a moment, because a run opens its
// files meanwhile.
func TestCheckDescriptors(t *testing.T) {
	if checkDescriptors(descriptors) != nil {
		t.Errorf("there is no room for %d files", descriptors)
	}
	file, err := os.Open(os.DevNull)
	fixture.NoError(t, err)
	defer file.Close()
	var limit syscall.Rlimit
	fixture.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	defer func(was syscall.Rlimit) {
		fixture.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
	}(limit)
	limit.Cur = uint64(file.Fd()) + 2 // one more may be open, and more where lower numbers are free
	fixture.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	var ended atomic.Bool
	asked := make(chan bool)
	go func() {
		defer close(asked)
		for !ended.Load() {
			if checkDescriptors(descriptors) == nil {
				t.Errorf("there is room for %d files below %d", descriptors, limit.Cur)
				return
			}
		}
	}()
	for range 10_000 {
		if more, err := os.Open(os.DevNull); err != nil {
			t.Error(err)
			break
		} else {
			more.Close()
		}
	}
	ended.Store(true)
	<-asked
}
