package tracefs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/owner"
	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

// histFiles is a [fakeFiles] with hist triggers: a trigger arms its event, keeps the
// instance, and can't go before another that uses its variable.
type histFiles struct{ *fakeFiles }

func newHistFake(t *testing.T) (*FS, histFiles) {
	f, fake := newFake(t)
	fake.put("README", "  uprobe_events\t\t- Create/append/remove/show\n\t    Format: hist:keys=<field1[,field2,...]>\n")
	fake.put("synthetic_events", "")
	h := histFiles{fake}
	f.tree.Ops = h
	return f, h
}

// triggersOf is what is set in an instance, or in all.
func (h histFiles) triggersOf(instance string) string {
	files, err := filepath.Glob(filepath.Join(h.root, "instances", instance, "events/*/*/trigger"))
	if err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			h.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

func (h histFiles) Write(path, text string) error {
	if filepath.Base(path) != "trigger" {
		return h.fakeFiles.Write(path, text)
	}
	if err := h.step("write", path, text); err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil && !tree.IsNotExist(err) {
		return err
	}
	line, remove := strings.CutPrefix(text, "!")
	switch {
	case !remove:
		b = append(b, line+" [active]\n"...)
	case strings.Contains(line, "ts0=") && strings.Contains(h.triggersOf("*"), "$ts0"):
		return &os.PathError{Op: "write", Path: path, Err: unix.EBUSY}
	case !strings.Contains(string(b), line+" [active]\n"):
		return &os.PathError{Op: "write", Path: path, Err: unix.ENOENT}
	default:
		b = []byte(strings.Replace(string(b), line+" [active]\n", "", 1))
	}
	h.fakeFiles.put(strings.TrimPrefix(path, h.root+"/"), string(b))
	state := "0"
	if len(b) > 0 {
		state = "0*"
	}
	h.fakeFiles.put(filepath.Join(strings.TrimPrefix(filepath.Dir(path), h.root+"/"), "enable"), state)
	return nil
}

func (h histFiles) Append(path, text string) error {
	if !strings.HasSuffix(path, "synthetic_events") {
		return h.fakeFiles.Append(path, text)
	}
	if err := h.step("append", path, text); err != nil {
		return err
	}
	if name, remove := strings.CutPrefix(strings.TrimSpace(text), "!"); remove {
		if strings.Contains(h.triggersOf("*"), name) {
			return &os.PathError{Op: "write", Path: path, Err: unix.EBUSY}
		}
		text = ""
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (h histFiles) Rmdir(path string) error {
	if h.triggersOf(filepath.Base(path)) != "" {
		h.log = append(h.log, "rmdir, busy")
		return &os.PathError{Op: "rmdir", Path: path, Err: unix.EBUSY}
	}
	return h.fakeFiles.Rmdir(path)
}

func (h histFiles) left() []string {
	left := h.fakeFiles.left()
	if b, err := os.ReadFile(filepath.Join(h.root, "synthetic_events")); err != nil || len(b) > 0 {
		left = append(left, string(b))
	}
	return left
}

func callsOf(pid int) CallEvents {
	calls := testCalls()
	calls.PID = pid
	return calls
}

func testCalls() CallEvents {
	args := []Arg{{Name: "f", Type: "u64", Fetch: `\0`}, {Name: "g", Type: "u64", Fetch: "%r14"}}
	return CallEvents{
		Entry:  Event{Name: "e0_0123456789", Args: args, Sites: []uint64{0x10, 0x20}},
		Return: Event{Name: "r1_0123456789", Args: args, Sites: []uint64{0x30}},
		Func:   "f", Key: []string{"g"}, Funcs: 1,
	}
}

// TestHistogramsFailAtEachStep makes each access to the kernel fail in turn: whatever had
// been made is gone afterwards.
func TestHistogramsFailAtEachStep(t *testing.T) {
	for step := 1; ; step++ {
		f, fake := newHistFake(t)
		fake.failAt = step
		h, err := StartHistograms(t.Context(), f, Target{Path: "/bin/true"}, testCalls())
		if len(fake.log) < step {
			if err != nil {
				t.Fatalf("nothing was made to fail, but: %v", err)
			}
			fake.failAt = 0
			if err := h.Disarm(nil); err != nil {
				t.Errorf("stop: %v", err)
			}
			if step < 10 {
				t.Errorf("only %d steps: %q", step, fake.log)
			}
			return
		}
		if !errors.Is(err, fake.err) {
			t.Errorf("step %d (%s): error %v does not tell", step, fake.log[step-1], err)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("step %d (%s) failed: left %q", step, fake.log[step-1], left)
		}
	}
}

// TestHistogramsCloseFailsAtEachStep: a failing removal is reported, and a second try, or the
// sweep of leftovers, removes the rest.
func TestHistogramsCloseFailsAtEachStep(t *testing.T) {
	for step := 0; ; step++ {
		f, fake := newHistFake(t)
		h, err := StartHistograms(t.Context(), f, Target{Path: "/bin/true"}, testCalls())
		if err != nil {
			t.Fatal(err)
		}
		before := len(fake.log)
		fake.failAt = before + step
		err = h.Close()
		if step > 0 && len(fake.log) < before+step {
			if step < 8 {
				t.Errorf("only %d steps: %q", step, fake.log[before:])
			}
			return
		}
		fake.failAt = 0
		if step == 0 && (err != nil || len(fake.left()) > 0) {
			t.Errorf("close: %v, left %q", err, fake.left())
		}
		if _, err := f.sweep(Leftover{Name: h.Name, instance: f.tree.Exists("instances", h.Name)}); err != nil {
			t.Errorf("after %q failed: %v", fake.log[before+step-1], err)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("after %q failed, and a sweep: left %q", fake.log[before+step-1], left)
		}
	}
}

// TestHistogramsOrder pins the safe order: triggers, synthetic event, instance, probes.
func TestHistogramsOrder(t *testing.T) {
	f, fake := newHistFake(t)
	h, err := StartHistograms(t.Context(), f, Target{Path: "/bin/true"}, testCalls())
	if err != nil {
		t.Fatal(err)
	}
	before := len(fake.log)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	var order []string
	for _, l := range fake.log[before:] {
		for _, word := range []string{"!hist", "!ftgo", "rmdir", "-:"} {
			if strings.Contains(l, word) {
				order = append(order, word)
				break
			}
		}
	}
	order = slices.Compact(order)
	if want := []string{"!hist", "!ftgo", "rmdir", "-:"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// TestSweepSynthetic: a synthetic event alone is a leftover, too; others' are not.
func TestSweepSynthetic(t *testing.T) {
	f, fake := newHistFake(t)
	dead := owner.Owner{PID: 1 << 22, Started: 5, Session: 1}.String()
	fake.put("synthetic_events", dead+"\tu64 f; u64 lat\n")
	gone, err := f.Sweep()
	if err != nil || len(gone) != 1 || gone[0].Name != dead || len(fake.left()) > 0 {
		t.Errorf("swept %v (%v), left %q", gone, err, fake.left())
	}
	fake.put("synthetic_events", "wakeup_latency\tu64 lat\n")
	if gone, err := f.Sweep(); err != nil || len(gone) > 0 || len(fake.left()) == 0 {
		t.Errorf("swept %v of somebody else's (%v)", gone, err)
	}
}
