package tracefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeFiles is a tracefs in a directory, with the few reactions of the kernel that
// the order of our writes depends on. It records what is done to it, and can be told
// to fail at one step.
type fakeFiles struct {
	osFiles
	t      *testing.T
	root   string
	log    []string
	failAt int // the step, from 1, that fails
	err    error
	// readers have pipes open, any of which keeps all instances, as up to Linux 5.4.0.
	readers []pipeReader
	// noMemory: definitions fetch from registers alone.
	noMemory bool
	// off are what is switched off with all events of an instance.
	off []string
}

func newFake(t *testing.T) (*FS, *fakeFiles) {
	f := &fakeFiles{t: t, root: t.TempDir(), err: errors.New("injected")}
	for _, name := range []string{"uprobe_events", "uprobe_profile", "error_log", "trace_clock", "set_event_pid"} {
		f.put(name, "")
	}
	f.put("buffer_size_kb", "1408\n")
	f.put("README", "  uprobe_events\t\t- Create/append/remove/show the userspace dynamic events\n")
	f.put("options/record-tgid", "0")
	f.put("options/event-fork", "0")
	for _, dir := range []string{"instances", "events"} {
		if err := os.Mkdir(filepath.Join(f.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &FS{dir: f.root, files: f, rcuDir: f.root}, f
}

func (f *fakeFiles) put(name, text string) {
	p := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// step logs an operation, and is the error of the one that is to fail.
func (f *fakeFiles) step(op, path string, text ...string) error {
	name, err := filepath.Rel(f.root, path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.log = append(f.log, strings.TrimSpace(op+" "+name+" "+strings.Join(text, "")))
	if len(f.log) == f.failAt {
		return &fs.PathError{Op: op, Path: path, Err: f.err}
	}
	return nil
}

func (f *fakeFiles) Write(path, text string) error {
	if err := f.step("write", path, text); err != nil {
		return err
	}
	if text == "" {
		return f.osFiles.Write(path, text)
	}
	if strings.HasSuffix(path, "events/enable") {
		for _, file := range f.off {
			f.put(file, text)
		}
	}
	return writeOnce(path, os.O_WRONLY|os.O_TRUNC, text)
}

func (f *fakeFiles) Append(path, text string) error {
	if err := f.step("append", path, text); err != nil {
		return err
	}
	if !strings.HasSuffix(path, "uprobe_events") {
		return f.osFiles.Append(path, text)
	}
	if f.noMemory && strings.Contains(text, "(%") {
		return &fs.PathError{Op: "write", Path: path, Err: unix.EINVAL}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if event, ok := strings.CutPrefix(line, "-:"); ok {
			b = f.undefine(b, event)
			continue
		}
		b = append(b, line+"\n"...)
		f.eventDirs(eventOf(line))
	}
	return os.WriteFile(path, b, 0o644)
}

// undefine is the kernel's "-:", which must never meet an enabled event.
func (f *fakeFiles) undefine(defined []byte, event string) []byte {
	enables, err := filepath.Glob(filepath.Join(f.root, "instances/*/events", event, "enable"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range append(enables, filepath.Join(f.root, "events", event, "enable")) {
		if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) != "0" {
			f.t.Errorf("%s removed while %s is %q: the kernel would crash", event, file, b)
		}
	}
	os.RemoveAll(filepath.Join(f.root, "events", event))
	// The group goes with its last event.
	if left, _ := filepath.Glob(filepath.Join(f.root, "events", filepath.Dir(event), "*", "enable")); len(left) == 0 {
		os.RemoveAll(filepath.Join(f.root, "events", filepath.Dir(event)))
	}
	var kept []byte
	for line := range strings.Lines(string(defined)) {
		if eventOf(strings.TrimSpace(line)) != event {
			kept = append(kept, line...)
		}
	}
	return kept
}

// eventDirs makes the directories of an event, as a definition does.
func (f *fakeFiles) eventDirs(event string) {
	dirs, err := filepath.Glob(filepath.Join(f.root, "instances/*"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range append(dirs, f.root) {
		rel, _ := filepath.Rel(f.root, d)
		f.put(filepath.Join(rel, "events", event, "enable"), "0")
		f.put(filepath.Join(rel, "events", event, "filter"), "none")
		f.put(filepath.Join(rel, "events", filepath.Dir(event), "enable"), "0")
	}
}

func (f *fakeFiles) Mkdir(path string) error {
	if err := f.step("mkdir", path); err != nil {
		return err
	}
	rel, _ := filepath.Rel(f.root, path)
	for name, text := range map[string]string{
		"trace_pipe": "", "trace_clock": "[local] global mono", "buffer_size_kb": "", "events/enable": "0", "tracing_on": "1",
		"options/record-tgid": "0", "options/event-fork": "0", "set_event_pid": "", "per_cpu/cpu0/stats": "now ts: 1\n",
	} {
		f.put(filepath.Join(rel, name), text)
	}
	return nil
}

func (f *fakeFiles) Rmdir(path string) error {
	if err := f.step("rmdir", path); err != nil {
		return err
	}
	if len(f.readers) > 0 {
		return &fs.PathError{Op: "rmdir", Path: path, Err: unix.EBUSY}
	}
	return os.RemoveAll(path)
}

func (f *fakeFiles) PipeReaders() []pipeReader { return f.readers }

func (f *fakeFiles) Pipe(path string) (int, error) {
	if err := f.step("open", path); err != nil {
		return -1, err
	}
	return f.osFiles.Pipe(path)
}

// left is what a test would not want to find at its end.
func (f *fakeFiles) left() []string {
	var left []string
	b, err := os.ReadFile(filepath.Join(f.root, "uprobe_events"))
	if err != nil {
		f.t.Fatal(err)
	}
	if len(b) > 0 {
		left = append(left, string(b))
	}
	entries, err := os.ReadDir(filepath.Join(f.root, "instances"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, "instance "+e.Name())
	}
	return left
}

func testEvents() []Event {
	return []Event{
		{Name: "entry0_0123456789", Args: []Arg{{"sp", "%sp", "s64"}}, Sites: []uint64{0x10, 0x20}},
		{Name: "return0_0123456789", Sites: []uint64{0x30}, Filter: "fl & 65"},
	}
}

// TestStartFailsAtEachStep makes each access to the kernel fail in turn: whatever had
// been made is gone afterwards, and nothing enabled was ever removed.
func TestStartFailsAtEachStep(t *testing.T) {
	_, probe := newFake(t)
	steps := 0
	for step := 1; ; step++ {
		f, fake := newFake(t)
		fake.failAt = step
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
		if len(fake.log) < step {
			if err != nil {
				t.Fatalf("nothing was made to fail, but: %v", err)
			}
			steps, fake.failAt = step, 0
			if err := s.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
			break
		}
		if !errors.Is(err, fake.err) {
			t.Errorf("step %d (%s): error %v does not tell", step, fake.log[step-1], err)
		}
		if left := fake.left(); len(left) > 0 {
			t.Errorf("step %d (%s) failed: left %q", step, fake.log[step-1], left)
		}
	}
	if steps < 10 {
		t.Errorf("only %d steps seen: %q", steps, probe.log)
	}
}

// TestCloseFailsAtEachStep: a failing removal is reported, and what can be removed is.
func TestCloseFailsAtEachStep(t *testing.T) {
	for step := 0; ; step++ {
		f, fake := newFake(t)
		s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := len(fake.log)
		fake.failAt = before + step
		err = s.Close()
		if step > 0 && len(fake.log) < before+step {
			if step < 5 {
				t.Errorf("only %d steps: %q", step, fake.log[before:])
			}
			return
		}
		if step > 0 && err == nil {
			t.Errorf("step %q failed, and Close said nothing", fake.log[before+step-1])
		}
		if step == 0 && (err != nil || len(fake.left()) > 0) {
			t.Errorf("close: %v, left %q", err, fake.left())
		}
	}
}

// TestOrderOfWrites pins the one safe order.
func TestOrderOfWrites(t *testing.T) {
	f, fake := newFake(t)
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, l := range fake.log {
		l = strings.ReplaceAll(l, s.Name, "S")
		for _, word := range []string{"trace_pipe", "p:S", "-:S", "rmdir", "enable"} {
			if strings.Contains(l, word) {
				order = append(order, l)
				break
			}
		}
	}
	want := []string{
		"open instances/S/trace_pipe",
		"append uprobe_events p:S/entry0_0123456789 /bin/true:0x10 sp=%sp:s64\n" +
			"p:S/return0_0123456789 /bin/true:0x30\np:S/entry0_0123456789 /bin/true:0x20 sp=%sp:s64",
		"write instances/S/events/S/return0_0123456789/enable 1",
		"write instances/S/events/S/entry0_0123456789/enable 1",
		"write instances/S/events/S/entry0_0123456789/enable 0",
		"write instances/S/events/S/return0_0123456789/enable 0",
		"rmdir instances/S",
		"append uprobe_events -:S/entry0_0123456789",
		"append uprobe_events -:S/return0_0123456789",
	}
	if !slices.Equal(order, want) {
		t.Errorf("order of writes\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
}

// TestEnabledElsewhereIsNotRemoved: somebody has switched our event on at the top
// level. Removing it would crash the kernel.
func TestEnabledElsewhereIsNotRemoved(t *testing.T) {
	f, fake := newFake(t)
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	fake.put("events/"+s.Name+"/enable", "1\n")
	fake.put("events/"+s.Name+"/entry0_0123456789/enable", "1\n")
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "enabled") {
		t.Errorf("close: %v, want a refusal", err)
	}
}

func TestStartRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event
		opt    Options
		want   string
	}{
		{"two sites where the kernel can't append", testEvents(), Options{Features: &Features{}}, "not supported"},
		{"event without a site", []Event{{Name: "e"}}, Options{}, "no site"},
		{"name that is no identifier", []Event{{Name: "a.b", Sites: []uint64{1}}}, Options{}, `"a.b"`},
		{"name too long", []Event{{Name: strings.Repeat("e", 64), Sites: []uint64{1}}}, Options{}, "64 bytes"},
		{"argument with a newline", []Event{{Name: "e", Sites: []uint64{1}, Args: []Arg{{"a", "%ax\n-:x", "s64"}}}}, Options{}, "blank"},
		{"argument too long", []Event{{Name: "e", Sites: []uint64{1}, Args: []Arg{{"a", strings.Repeat("+0(", 30), "s64"}}}}, Options{}, "at most 63"},
		{"too many arguments", []Event{{Name: "e", Sites: []uint64{1}, Args: make([]Arg, 129)}}, Options{}, "at most 128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, fake := newFake(t)
			_, err := Start(t.Context(), f, Target{Path: "/bin/true"}, c.events, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left := fake.left(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestStartPanics: where nobody gets a session, there is none in the kernel.
func TestStartPanics(t *testing.T) {
	f, fake := newFake(t)
	defer func() {
		if left := fake.left(); recover() == nil || len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}()
	Start(t.Context(), f, Target{Path: "/bin/true", Unchanged: func() error { panic("broken") }}, testEvents(), Options{})
}

func TestUnchangedVetoes(t *testing.T) {
	f, fake := newFake(t)
	changed := errors.New("changed")
	_, err := Start(t.Context(), f, Target{Path: "/bin/true", Unchanged: func() error { return changed }}, testEvents(), Options{})
	if !errors.Is(err, changed) {
		t.Errorf("error %v, want %v", err, changed)
	}
	if i := slices.IndexFunc(fake.log, func(l string) bool { return strings.HasSuffix(l, "enable 1") }); i >= 0 {
		t.Errorf("armed all the same: %s", fake.log[i])
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
