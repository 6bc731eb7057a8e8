package main

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestKernelWithExec: kernel events of a process go on when it has executed a program,
// be it on another thread than its first, which then takes over the first one's number.
func TestKernelWithExec(t *testing.T) {
	fixture.NeedLong(t)
	withSyscalls(t)
	if machine.This().Older(5, 8) {
		t.Skip("the kernel strikes the process's number off its list: see internal/tracefs/kernel.go")
	}
	target := fixture.Build(t, "family")
	steps := strings.Fields("ask=101 thread ask=103 thread ask=107 exec ask=109 thread ask=113")
	const asked = 101 + 103 + 107 + 109 + 113
	for _, more := range [][]string{nil, {"--fork"}, {"--sched"}} {
		for _, reader := range readers() {
			t.Setenv(readerVar, reader)
			args := append([]string{"trace", "-o", "json", "--with", "syscalls:sys_enter_getppid"}, more...)
			check := func(how string, r result) {
				t.Helper()
				events, calls := jsonLines(t, r.stdout, "event"), jsonLines(t, r.stdout, "call")
				inside := 0
				for _, e := range events {
					if e["function"] == "main.ask" {
						inside++
					}
				}
				s := jsonLines(t, r.stdout, "summary")[0]
				if r.code != 0 || len(events) != asked || inside != asked || len(calls) != asked || s["lost"] != 0.0 {
					t.Errorf("%s %q: status %d, %d events, %d of them in main.ask, %d calls, want %d\n%s", how, args, r.code, len(events), inside, len(calls), asked, r.stderr)
				}
			}
			m := family(t, append([]string{target, "stdin"}, steps...)...)
			check("-p", attached(t, m, append(args, "-p", m.pid(), "main.ask")...))
			check("PROGRAM", ftgo(t, append(append(args, target, "main.ask", "--", target), steps...)...))
		}
	}
}
