package tracefs

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kernelFake is a fake tracefs whose instances have an event of the kernel itself.
type kernelFake struct{ rawFake }

func (f kernelFake) Mkdir(path string) error {
	if err := f.rawFake.Mkdir(path); err != nil {
		return err
	}
	rel, err := filepath.Rel(f.root, path)
	if err != nil {
		return err
	}
	f.put(filepath.Join(rel, "events/sched/sched_switch/enable"), "0")
	f.put(filepath.Join(rel, "events/sched/sched_switch/format"), "ID: 1\n")
	return nil
}

// TestStartKernelFailsAtEachStep: nothing is left, whatever fails; and no event is switched
// on before a list of threads restricts it.
func TestStartKernelFailsAtEachStep(t *testing.T) {
	for step := 1; ; step++ {
		f, fake := newFake(t)
		f.files = kernelFake{rawFake{fake}}
		fake.failAt = step
		k, err := StartKernel(f, []string{"sched:sched_switch"}, 0, true)
		if len(fake.log) >= step {
			if !errors.Is(err, fake.err) {
				t.Errorf("step %d (%s): error %v does not tell", step, fake.log[step-1], err)
			}
			if left := fake.left(); len(left) > 0 {
				t.Errorf("step %d (%s) failed: left %q", step, fake.log[step-1], left)
			}
			continue
		}
		if err != nil {
			t.Fatalf("nothing was made to fail, but: %v", err)
		}
		at := func(word string) int {
			return slices.IndexFunc(fake.log, func(l string) bool { return strings.Contains(l, word) })
		}
		if pids, on := at("set_event_pid"), at("sched_switch/enable 1"); pids < 0 || on < pids {
			t.Errorf("order of writes: %q", fake.log)
		}
		if texts, err := k.Formats(); err != nil || !slices.Equal(texts, []string{"ID: 1\n"}) {
			t.Errorf("formats %q, %v", texts, err)
		}
		fake.failAt = 0
		if err := errors.Join(k.Pause(), k.Close()); err != nil || len(fake.left()) > 0 {
			t.Errorf("close: %v, left %q", err, fake.left())
		}
		return
	}
}
