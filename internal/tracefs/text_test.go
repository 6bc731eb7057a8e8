package tracefs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParseProfile(t *testing.T) {
	events := []Event{{Name: "entry0_abc", Sites: []uint64{1, 2}}, {Name: "return0_abc", Sites: []uint64{3}}}
	text := "  /bin/a b  entry0_abc                                     7\n" +
		"  /bin/true other                                         99\n" +
		"  /bin/a b  entry0_abc                                     8\n" +
		"  /bin/a b  return0_abc                 18446744073709551615\n"
	got, err := parseProfile(text, events)
	if want := [][]uint64{{7, 8}, {1<<64 - 1}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for name, bad := range map[string]string{
		"a site is missing": "  /bin/x entry0_abc 7\n  /bin/x return0_abc 1\n",
		"no number":         "  /bin/x entry0_abc seven\n",
	} {
		if _, err := parseProfile(bad, events); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestProfileIsReadAgain checks that an incomplete profile is read again. It lacks a site while another process
// removes probes.
func TestProfileIsReadAgain(t *testing.T) {
	fs, fake := newFake(t)
	fake.put("uprobe_profile", "  /bin/x e0_abc 7\n")
	s := &Session{fs: fs, events: []Event{{Name: "e0_abc", Sites: []uint64{1, 2}}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(5 * time.Millisecond)
		fake.put("uprobe_profile", "  /bin/x e0_abc 7\n  /bin/x e0_abc 8\n")
	}()
	got, err := s.Profile()
	if want := [][]uint64{{7, 8}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	<-done
	fake.put("uprobe_profile", "  /bin/x e0_abc 7\n")
	if _, err := s.Profile(); !errors.Is(err, errIncomplete) {
		t.Errorf("a site that never comes: %v", err)
	}
}

func TestLastRefusal(t *testing.T) {
	const line = "p:g/e /bin/true:0x10 a=%rax:x64"
	log := "[ 1.000000] trace_uprobe: error: Old entry\n  Command: " + line + "\n           ^\n" +
		"[ 2.000000] trace_uprobe: error: Invalid register name\n  Command: " + line + "\n" + strings.Repeat(" ", 11+len("p:g/e /bin/true:0x10 a=")) + "^\n" +
		"[ 3.000000] trace_kprobe: error: Somebody else's\n  Command: p:x y\n           ^\n"
	got, why := lastRefusal(log, []string{"p:g/f /bin/true:0x11", line})
	if got != line || why != `: Invalid register name at "%rax:x64"` {
		t.Errorf("line %q%s", got, why)
	}
	if got, why := lastRefusal(log, []string{"p:g/other /bin/true:0x1"}); got != "" {
		t.Errorf("found %q%s for a line that was not refused", got, why)
	}
}

func TestParseOverruns(t *testing.T) {
	n, err := parseOverruns("entries: 9\noverrun: 3\ncommit overrun: 4\nbytes: 1\ndropped events: 5\nread events: 2\n")
	if n != 12 || err != nil {
		t.Errorf("got %d, %v; want 12", n, err)
	}
}

func TestDefineSplitsWrites(t *testing.T) {
	f, fake := newFake(t)
	ev := Event{Name: "entry0_0123456789", Args: []Arg{{"sp", "%sp", "s64"}}}
	for i := range 300 {
		ev.Sites = append(ev.Sites, uint64(i))
	}
	definitions, err := ev.Definitions("g", "/bin/true")
	fixture.NoError(t, errors.Join(err, f.define(t.Context(), definitions)))
	lines := 0
	for _, l := range fake.log {
		if len(l) > maxWrite+len("append uprobe_events ") {
			t.Errorf("a write of %d bytes", len(l))
		}
		lines += strings.Count(l, "p:g/")
	}
	if lines != 300 || len(fake.log) < 2 || len(fake.log) > 10 {
		t.Errorf("%d lines in %d writes, want 300 in a few", lines, len(fake.log))
	}
	if err := f.define(t.Context(), []string{"p:g/e /" + strings.Repeat("x", 5000) + ":0x1"}); !errors.Is(err, ErrRefused) {
		t.Errorf("a line of 5000 bytes: %v", err)
	}
}

func TestFind(t *testing.T) {
	f, _ := newFake(t)
	if _, err := find([]string{"/nonexistent", t.TempDir()}); !errors.Is(err, ErrNotMounted) {
		t.Errorf("nothing mounted: %v", err)
	}
	got, err := find([]string{t.TempDir(), f.dir})
	if err != nil || got.Dir() != f.dir {
		t.Errorf("found %v, %v; want %s", got, err, f.dir)
	}
}

func TestFindKernelEvents(t *testing.T) {
	f, fake := newFake(t)
	fake.put("available_events", "sched:sched_switch\nsched:sched_waking\nsyscalls:sys_enter_write\nmine:probe\nuprobes:p_x\nftgo_1_2_3:e0\n")
	fake.put("kprobe_events", "p:mine/probe do_sys_open\n")
	fake.put("dynamic_events", "p:uprobes/p_x /bin/true:0x10\n")
	for _, c := range []struct{ patterns, want string }{
		{"sched:sched_switch", "sched:sched_switch"},
		{"sched:*", "sched:sched_switch sched:sched_waking"},
		{"s*:*w[ar]* sched:sched_switch", "sched:sched_waking syscalls:sys_enter_write sched:sched_switch"},
	} {
		got, err := f.KernelEvents(strings.Fields(c.patterns))
		if err != nil || !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %q, %v", c.patterns, got, err)
		}
	}
	for pattern, want := range map[string]string{
		"sched:sched_swich":        `none of that name: did you mean sched:sched_switch?`,
		"syscall:sys_enter_write":  "none of that name: did you mean syscalls:sys_enter_write?",
		"mine:probe":               "none of that name", // somebody else's
		"uprobes:*":                "none of that name",
		"ftgo_1_2_3:e0":            "none of that name",
		"nothing:like_it_anywhere": "none of that name",
	} {
		if _, err := f.KernelEvents([]string{pattern}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", pattern, err, want)
		}
	}
	for _, pattern := range []string{"", "sched", "sched:", ":x", "a:[", "sched_switch"} {
		if _, err := f.KernelEvents([]string{pattern}); err == nil || strings.Contains(err.Error(), "none of that name") {
			t.Errorf("%q: error %v", pattern, err)
		}
	}
}
