package main

import (
	"regexp"
	"testing"
)

// TestProgressOnTerminal: what takes long says so on a terminal, and leaves nothing of that behind.
func TestProgressOnTerminal(t *testing.T) {
	const eof = "\x04"
	got := onTerminal(t, []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, "ftgo: reading -", eof, "report", "-", "||", "echo", "status", "$?")
	last := regexp.MustCompile(`(?s).*\rftgo: (reading -|megabytes read: 0)\x1b\[K\r\x1b\[Kftgo: .*no recording of ftgo.*\nstatus 1\r\n$`)
	if !last.MatchString(got) {
		t.Errorf("the terminal got\n%q", got)
	}
}
