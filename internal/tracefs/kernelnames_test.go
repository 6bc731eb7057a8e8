package tracefs

import (
	"slices"
	"strings"
	"testing"
)

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
	for pattern, near := range map[string]string{
		"sched:sched_swich":         "sched:sched_switch sched:sched_waking",
		"syscall:sys_enter_write":   "syscalls:sys_enter_write",
		"shced:scehd_swtich":        "sched:sched_switch",
		"raw_syscalls:enter_write":  "syscalls:sys_enter_write",
		"mine:probe":                "", // somebody else's
		"uprobes:*":                 "",
		"ftgo_1_2_3:e0":             "",
		"nothing:like_it_anywhere!": "",
	} {
		_, err := f.KernelEvents([]string{pattern})
		if want := unknownEvent(pattern, strings.Fields(near)); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: error %v, want near %q", pattern, err, near)
		}
	}
	for _, pattern := range []string{"", "sched", "sched:", ":x", "a:[", "sched_switch"} {
		if _, err := f.KernelEvents([]string{pattern}); err == nil || strings.Contains(err.Error(), "none of that name") {
			t.Errorf("%q: error %v", pattern, err)
		}
	}
}
