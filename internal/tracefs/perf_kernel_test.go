package tracefs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelTakenByPerf checks that an event that perf has enabled is neither armed nor deleted. It has one site, so
// that the kernel would refuse its deletion instead of crashing.
func TestKernelTakenByPerf(t *testing.T) {
	f := tracetest.Kernel(t)
	fd, group := -1, ""
	take := func() error {
		ids, err := filepath.Glob(fmt.Sprintf("%s/events/ftgo_%d_*/taken_*/id", f.Dir(), os.Getpid()))
		if err != nil || len(ids) != 1 {
			return fmt.Errorf("ids %q: %v", ids, err)
		}
		group = filepath.Base(filepath.Dir(filepath.Dir(ids[0])))
		b, err := os.ReadFile(ids[0])
		if err != nil {
			return err
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			return err
		}
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err = unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
		return err
	}
	events := []tracefs.Event{{Name: "taken_0123456789abcdef", Sites: []uint64{0x1000}}}
	_, err := tracefs.Start(t.Context(), f, tracefs.Target{Path: "/bin/true", Unchanged: take}, events, tracefs.Options{BufferKB: 64})
	if fd < 0 {
		t.Fatalf("perf has no event: %v", err)
	}
	remains := errors.Is(err, tracefs.ErrRemains)
	if !remains || !errors.Is(err, unix.EINTR) || !strings.Contains(err.Error(), "traced by perf_event_open") {
		t.Errorf("start: %v", err)
	}
	unix.Close(fd)
	if !remains {
		return
	}
	w, err := os.OpenFile(f.Dir()+"/uprobe_events", os.O_WRONLY|os.O_APPEND, 0)
	fixture.NoError(t, err)
	defer w.Close()
	if _, err := w.WriteString("-:" + group + "/" + events[0].Name + "\n"); err != nil {
		t.Errorf("what is left can't be removed: %v", err)
	}
}
