package tracefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// linux310 returns a fake in which instances do not record, and error_log does not exist.
func linux310(t *testing.T) (*FS, *fakeFiles) {
	f, fake := newFake(t)
	fake.noMemory = true
	for _, name := range []string{"set_event_pid", "error_log", "options", "README"} {
		fixture.NoError(t, os.RemoveAll(filepath.Join(fake.root, name)))
	}
	for name, text := range map[string]string{
		"trace_clock": "local [global] counter", "buffer_size_kb": "7 (expanded: 1408)\n", "tracing_on": "0\n",
		"current_tracer": "nop\n", "set_event": "", "trace_pipe": "", "per_cpu/cpu0/stats": "now ts: 1\n",
	} {
		fake.put(name, text)
	}
	return f, fake
}

// settings returns the settings of the top level.
func (f *fakeFiles) settings() string {
	var all []string
	for _, s := range topLevel {
		b, _ := os.ReadFile(filepath.Join(f.root, s.file))
		all = append(all, settingValue(strings.TrimSpace(string(b))))
	}
	return strings.Join(all, " ")
}

func singleEvents() []Event {
	events := testEvents()
	events[0].Sites = events[0].Sites[:1]
	return events
}

func TestOldFeatures(t *testing.T) {
	f, _ := linux310(t)
	if got := f.Features(); got != (Features{ExactHits: got.ExactHits}) {
		t.Errorf("Linux 3.10 has %+v", got)
	}
}

// TestMemoryIsTried checks a kernel like RHEL 7's 3.10, which can fetch from memory but has no other feature of 3.14.
func TestMemoryIsTried(t *testing.T) {
	f, fake := linux310(t)
	fake.noMemory = false
	if got := f.Features(); !got.Memory || got.Instances || got.EventPID {
		t.Errorf("RHEL 7 has %+v", got)
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestTopLevelRefused(t *testing.T) {
	for _, c := range []struct {
		file, text string
		opt        Options
		want       string
	}{
		{"set_event", "sched:sched_switch\n", Options{TopLevel: true}, "it is in use"},
		{"current_tracer", "function\n", Options{TopLevel: true}, "it is in use"},
		{"set_event", "", Options{}, "not supported"},
	} {
		f, fake := linux310(t)
		fake.put(c.file, c.text)
		before := fake.settings()
		if _, err := Start(t.Context(), f, Target{Path: "/bin/true"}, singleEvents(), c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q, %+v: %v, want %q", c.file, c.text, c.opt, err, c.want)
		}
		if now := fake.settings(); now != before {
			t.Errorf("%s: the top level is %v, was %v", c.want, now, before)
		}
	}
}

// TestTopLevelLeftovers checks that Sweep removes the events that a killed run has left enabled at the top level.
func TestTopLevelLeftovers(t *testing.T) {
	f, fake := linux310(t)
	dead := owner{PID: 1 << 22, Started: 5, Session: 1}.String()
	fixture.NoError(t, f.files.Append(f.path("uprobe_events"), fmt.Sprintf("p:%[1]s/e /bin/true:0x1\np:%[1]s/note /proc/self/exe:0x0\n", dead)))
	fake.put("events/"+dead+"/enable", "X\n")
	fake.put("events/"+dead+"/e/enable", "1\n")
	fake.put("trace_clock", "local global [counter]\n")
	fake.put("buffer_size_kb", "16384\n")
	fake.put("tracing_on", "0\n")
	gone, err := f.Sweep()
	if err != nil || len(gone) != 1 || len(fake.left()) > 0 {
		t.Errorf("swept %v, %v; left %q", gone, err, fake.left())
	}
	if now := fake.settings(); now != "local 1408 1" {
		t.Errorf("the top level is %v", now)
	}
}

// TestRefusalWithoutErrorLog checks that the first line that is not defined is the refused one, and that no line is blamed if
// uprobe_events can't be opened.
func TestRefusalWithoutErrorLog(t *testing.T) {
	f, fake := linux310(t)
	refusal := errors.New("invalid argument")
	lines := []string{"p:g/a /bin/true:0x1", "p:g/b /bin/true:0x2 x=%nothing"}
	fake.put("uprobe_events", lines[0]+"\n")
	err := f.explain(lines, refusal)
	if !errors.Is(err, refusal) || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), lines[1]) {
		t.Errorf("got %v", err)
	}
	if err := f.explain(lines, &fs.PathError{Op: "open", Path: f.path("uprobe_events"), Err: unix.EMFILE}); errors.Is(err, ErrRefused) {
		t.Errorf("not opened: %v", err)
	}
}
