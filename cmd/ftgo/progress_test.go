package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestProgressOnTerminal: what takes long says so on a terminal, and leaves nothing of that behind.
func TestProgressOnTerminal(t *testing.T) {
	const eof = "\x04"
	got := onTerminal(t, []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, "ftgo: reading -", eof, "report", "-", "||", "echo", "status", "$?")
	last := regexp.MustCompile(`(?s).*\rftgo: (reading -|megabytes read)\x1b\[K\r\x1b\[Kftgo: .*no recording of ftgo.*\nstatus 1\r\n$`)
	if !last.MatchString(got) {
		t.Errorf("the terminal got\n%q", got)
	}
}

// TestKernelProgressOnTerminal: whatever was shown while thousands of probes came and went, no line of
// it is there in the end.
func TestKernelProgressOnTerminal(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "exact")
	got := onTerminal(t, []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, "", "", "count", target, "'runtime.*'", "--", target)
	if !strings.Contains(got, "ftgo: probing ") {
		t.Errorf("the terminal got\n%q", got)
	}
	for line := range strings.SplitSeq(got, "\r\n") {
		// What is behind the last return to the beginning has taken the place of all before.
		shown := line[strings.LastIndexByte(line, '\r')+1:]
		if shown, _ = strings.CutPrefix(shown, "\x1b[K"); strings.Contains(shown, "\x1b") || regexp.MustCompile(`^ftgo: .* of \d+$`).MatchString(shown) {
			t.Errorf("%q is left in\n%q", shown, got)
		}
	}
}
