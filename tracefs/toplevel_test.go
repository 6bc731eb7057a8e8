package tracefs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linux310 has instances that stay empty, and no error_log.
func linux310(t *testing.T) (*FS, *fakeFiles) {
	f, fake := newFake(t)
	for _, name := range []string{"set_event_pid", "error_log", "options", "README"} {
		if err := os.RemoveAll(filepath.Join(fake.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"trace_clock": "local [global] counter", "buffer_size_kb": "7 (expanded: 1408)\n", "tracing_on": "0\n",
		"current_tracer": "nop\n", "set_event": "", "trace_pipe": "", "per_cpu/cpu0/stats": "now ts: 1\n",
	} {
		fake.put(name, text)
	}
	return f, fake
}

func (f *fakeFiles) settings() map[string]string {
	all := make(map[string]string)
	for _, name := range []string{"trace_clock", "buffer_size_kb", "tracing_on"} {
		b, err := os.ReadFile(filepath.Join(f.root, name))
		if err != nil {
			f.t.Fatal(err)
		}
		all[name] = settingOf(strings.TrimSpace(string(b)))
	}
	return all
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

// TestTopLevelIsPutBack makes each step fail in turn.
func TestTopLevelIsPutBack(t *testing.T) {
	for step := 1; ; step++ {
		f, fake := linux310(t)
		before := fake.settings()
		fake.failAt = step
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, singleEvents(), Options{TopLevel: true})
		if err == nil {
			if step < 8 {
				t.Errorf("only %d steps: %q", step, fake.log)
			}
			if now := fake.settings(); maps.Equal(now, before) {
				t.Errorf("nothing is set: %v", now)
			}
			fake.failAt = 0
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		} else if !errors.Is(err, fake.err) {
			t.Errorf("step %d: %v", step, err)
		}
		if now := fake.settings(); !maps.Equal(now, before) {
			t.Errorf("step %d (%s): the top level is %v, was %v", step, fake.log[step-1], now, before)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("step %d: left %q", step, left)
		}
		if err == nil {
			return
		}
	}
}

func TestTopLevelRefused(t *testing.T) {
	for _, c := range []struct {
		file, text string
		opt        Options
		want       string
	}{
		{"set_event", "sched:sched_switch\n", Options{TopLevel: true}, "somebody uses it"},
		{"current_tracer", "function\n", Options{TopLevel: true}, "somebody uses it"},
		{"set_event", "", Options{}, "not supported"},
	} {
		f, fake := linux310(t)
		fake.put(c.file, c.text)
		before := fake.settings()
		if _, err := Start(t.Context(), f, Target{Path: "/bin/true"}, singleEvents(), c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q, %+v: %v, want %q", c.file, c.text, c.opt, err, c.want)
		}
		if now := fake.settings(); !maps.Equal(now, before) {
			t.Errorf("%s: the top level is %v, was %v", c.want, now, before)
		}
	}
}

// TestTopLevelLeftovers: what a killed run has left enabled there goes, too.
func TestTopLevelLeftovers(t *testing.T) {
	f, fake := linux310(t)
	dead := owner{pid: 1 << 22, started: 5, session: 1}.String()
	if err := f.ops.Append(f.path("uprobe_events"), fmt.Sprintf("p:%s/e /bin/true:0x1\n", dead)); err != nil {
		t.Fatal(err)
	}
	fake.put("events/"+dead+"/enable", "1\n")
	if err := f.switchOff(dead); err != nil {
		t.Fatal(err)
	}
	fake.put("events/"+dead+"/e/enable", "0\n") // as the kernel does
	gone, err := f.Sweep()
	if err != nil || len(gone) != 1 || len(fake.left()) > 0 {
		t.Errorf("swept %v, %v; left %q", gone, err, fake.left())
	}
}

// TestRefusalWithoutErrorLog: the line that is not defined is the one that was refused.
func TestRefusalWithoutErrorLog(t *testing.T) {
	f, fake := linux310(t)
	refusal := errors.New("refused")
	lines := []string{"p:g/a /bin/true:0x1", "p:g/b /bin/true:0x2 x=%nothing"}
	fake.put("uprobe_events", lines[0]+"\n")
	var pe *ProbeError
	if err := f.explain(lines, refusal); !errors.As(err, &pe) || pe.Line != lines[1] || pe.Col != -1 || !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
}
