package tracefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// fakeFiles is a tracefs in an ordinary directory. It imitates the kernel where the order of writes depends on it,
// logs all operations, and can make an operation fail.
type fakeFiles struct {
	osFiles
	t    *testing.T
	root string
	log  []string // "OP NAME TEXT", reads included
	// failAt is the number of the step, from 1, that fails with err. With lasting, all later steps fail, too.
	failAt  int
	lasting bool
	err     error
	// hook, if not nil, is called before each step and may return an error for it.
	hook func(op, name, text string) error
	// held means that a trace_pipe is open, which keeps all instances busy, as on kernels up to 5.4.0.
	held bool
	// noMemory: definitions that fetch from memory are refused.
	noMemory bool
	// perf has the write ends of the pipes that stand for descriptors of perf_event_open, by the event. watch is the
	// write end for the descriptor of uprobe_events.
	perf  map[string][]int
	watch int
}

func newFake(t *testing.T) (*FS, *fakeFiles) {
	f := &fakeFiles{t: t, root: t.TempDir(), err: errors.New("injected"), perf: make(map[string][]int)}
	for _, name := range []string{"uprobe_events", "uprobe_profile", "error_log", "trace_clock", "set_event_pid"} {
		f.put(name, "")
	}
	f.put("buffer_size_kb", "1408\n")
	f.put("README", "  uprobe_events\t\t- Create/append/remove/show the userspace dynamic events\n")
	f.put("options/record-tgid", "0")
	f.put("options/event-fork", "0")
	for _, dir := range []string{"instances", "events"} {
		fixture.NoError(t, os.Mkdir(filepath.Join(f.root, dir), 0o755))
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

// step logs an operation and returns its injected error.
func (f *fakeFiles) step(op, path string, text ...string) error {
	name, err := filepath.Rel(f.root, path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.log = append(f.log, strings.TrimSpace(op+" "+name+" "+strings.Join(text, "")))
	if f.failAt > 0 && (len(f.log) == f.failAt || f.lasting && len(f.log) > f.failAt) {
		err = f.err
	} else if f.hook != nil {
		err = f.hook(op, name, strings.Join(text, ""))
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

func (f *fakeFiles) Read(path string) ([]byte, error) {
	if err := f.step("read", path); err != nil {
		return nil, err
	}
	return f.osFiles.Read(path)
}

func (f *fakeFiles) List(path string) ([]string, error) {
	if err := f.step("list", path); err != nil {
		return nil, err
	}
	return f.osFiles.List(path)
}

func (f *fakeFiles) Write(path, text string) error {
	if err := f.step("write", path, text); err != nil {
		return err
	}
	if text == "" {
		return f.osFiles.Write(path, text)
	}
	if err := writeOnce(path, os.O_WRONLY|os.O_TRUNC, text); err != nil || filepath.Base(path) != "enable" {
		return err
	}
	f.enable(path, text)
	return nil
}

// enable imitates a write to an enable file: it sets the files of all events below, and the file of an event's group to X if
// the events of the group differ.
func (f *fakeFiles) enable(path, text string) {
	dir := filepath.Dir(path)
	for _, below := range []string{"*/enable", "*/*/enable"} {
		files, _ := filepath.Glob(filepath.Join(dir, below))
		for _, file := range files {
			os.WriteFile(file, []byte(text), 0o644)
		}
	}
	group := filepath.Dir(dir)
	if !inEventGroup(filepath.Join(group, "enable")) {
		return
	}
	events, _ := filepath.Glob(filepath.Join(group, "*/enable"))
	for _, file := range events {
		if b, _ := os.ReadFile(file); string(b) != text {
			text = "X"
		}
	}
	os.WriteFile(filepath.Join(group, "enable"), []byte(text), 0o644)
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
	if f.watch > 0 {
		unix.Write(f.watch, []byte{1})
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

// undefine imitates "-:". It fails the test if the event is enabled anywhere, because the kernel would crash.
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
	for _, w := range f.perf[event] {
		if p := []unix.PollFd{{Fd: int32(w)}}; pollNow(p) == 0 || p[0].Revents&(unix.POLLERR|unix.POLLNVAL) == 0 {
			f.t.Errorf("%s removed while perf has armed it: the kernel would crash", event)
		}
	}
	os.RemoveAll(filepath.Join(f.root, "events", event))
	// The directory of a group is removed with its last event.
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

// eventDirs creates the directories of an event, as the kernel does after a definition.
func (f *fakeFiles) eventDirs(event string) {
	dirs, err := filepath.Glob(filepath.Join(f.root, "instances/*"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range append(dirs, f.root) {
		rel, _ := filepath.Rel(f.root, d)
		f.put(filepath.Join(rel, "events", event, "enable"), "0")
		f.put(filepath.Join(rel, "events", event, "filter"), "none")
		f.enable(filepath.Join(d, "events", event, "enable"), "0")
	}
}

func (f *fakeFiles) Mkdir(path string) error {
	if err := f.step("mkdir", path); err != nil {
		return err
	}
	rel, _ := filepath.Rel(f.root, path)
	for name, text := range map[string]string{
		"trace_pipe": "", "trace_clock": "[local] global mono", "buffer_size_kb": "", "events/enable": "0", "tracing_on": "1",
		"options/record-tgid": "0", "options/event-fork": "0", "set_event_pid": "",
		"per_cpu/cpu0/stats": "now ts: 1\n", "per_cpu/cpu0/trace_pipe_raw": "page of 0",
		"per_cpu/cpu1/stats": "now ts: 1\n", "per_cpu/cpu1/trace_pipe_raw": "",
		"events/sched/sched_switch/enable": "0", "events/sched/sched_switch/format": "ID: 1\n",
	} {
		f.put(filepath.Join(rel, name), text)
	}
	return nil
}

func (f *fakeFiles) Rmdir(path string) error {
	if err := f.step("rmdir", path); err != nil {
		return err
	}
	if f.held {
		return &fs.PathError{Op: "rmdir", Path: path, Err: unix.EBUSY}
	}
	return os.RemoveAll(path)
}

func (f *fakeFiles) Pipe(path string) (int, error) {
	if err := f.step("open", path); err != nil {
		return -1, err
	}
	return f.osFiles.Pipe(path)
}

// left returns the remaining definitions and instances.
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

func moreEvents() []Event {
	return []Event{
		{Name: "entry2_0123456789", Sites: []uint64{0x40, 0x50}},
		{Name: "return3_0123456789", Sites: []uint64{0x60}},
	}
}

// start starts a session of testEvents.
func start(t *testing.T, f *FS, opt Options) *Session {
	t.Helper()
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), opt)
	fixture.NoError(t, err)
	return s
}

// TestOrder checks the only safe order: the last extension is disarmed first, and events are deleted after the
// instance is removed.
func TestOrder(t *testing.T) {
	f, fake := newFake(t)
	s := start(t, f, Options{})
	fixture.NoError(t, s.Extend(t.Context(), moreEvents()))
	s.Join(moreEvents())
	none := errors.Join(s.Arm(t.Context(), nil), s.Disarm(nil)) // no events, instead of all
	fixture.NoError(t, errors.Join(none, s.Arm(t.Context(), moreEvents()), s.Disarm(moreEvents()), s.Close()))
	var order []string
	for _, l := range fake.log {
		l = strings.ReplaceAll(l, s.Name, "S")
		l = strings.ReplaceAll(l, "_0123456789", "")
		if strings.Contains(l, "/trace_pipe") || !strings.HasPrefix(l, "read") && strings.ContainsAny(l, ":") || strings.HasPrefix(l, "rmdir") || strings.Contains(l, "/enable") {
			order = append(order, l)
		}
	}
	want := []string{
		"open instances/S/trace_pipe",
		"append uprobe_events p:S/entry0 /bin/true:0x10 sp=%sp:s64\np:S/return0 /bin/true:0x30\np:S/entry0 /bin/true:0x20 sp=%sp:s64",
		"write instances/S/events/S/return0/enable 1",
		"write instances/S/events/S/entry0/enable 1",
		"append uprobe_events p:S/entry2 /bin/true:0x40\np:S/return3 /bin/true:0x60\np:S/entry2 /bin/true:0x50",
		"write instances/S/events/S/return3/enable 1",
		"write instances/S/events/S/entry2/enable 1",
		"write instances/S/events/S/entry2/enable 0", // Disarm
		"write instances/S/events/S/return3/enable 0",
		"write instances/S/events/S/entry2/enable 0", // Close
		"write instances/S/events/S/return3/enable 0",
		"write instances/S/events/S/entry0/enable 0",
		"write instances/S/events/S/return0/enable 0",
		"rmdir instances/S",
		"read events/S/enable",
		"append uprobe_events -:S/entry0",
		"append uprobe_events -:S/entry2",
		"append uprobe_events -:S/return0",
		"append uprobe_events -:S/return3",
	}
	if !slices.Equal(order, want) {
		t.Errorf("order\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
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

// TestStartPanics checks that nothing remains in the kernel after a panic in Start.
func TestStartPanics(t *testing.T) {
	f, fake := newFake(t)
	defer func() {
		if left := fake.left(); recover() == nil || len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}()
	Start(t.Context(), f, Target{Path: "/bin/true", Unchanged: func() error { panic("broken") }}, testEvents(), Options{})
}

// TestUnchangedVetoes checks that probes in a file that has changed are not armed, neither by Start nor after Extend.
func TestUnchangedVetoes(t *testing.T) {
	f, fake := newFake(t)
	changed := errors.New("changed")
	veto := Target{Path: "/bin/true", Unchanged: func() error { return changed }}
	_, err := Start(t.Context(), f, veto, testEvents(), Options{})
	if !errors.Is(err, changed) {
		t.Errorf("error %v, want %v", err, changed)
	}
	if i := slices.IndexFunc(fake.log, func(l string) bool { return strings.HasSuffix(l, "enable 1") }); i >= 0 {
		t.Errorf("armed all the same: %s", fake.log[i])
	}
	s := start(t, f, Options{})
	s.target = veto
	if err := s.Extend(t.Context(), moreEvents()); !errors.Is(err, changed) {
		t.Errorf("extend: %v, want %v", err, changed)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
