package main

import (
	"regexp"
	"strings"
	"testing"
)

// inCycles is the recording of one call of 500 ms, timed by a counter of two cycles a
// nanosecond, and of another that shows in the lines where nothing is left to wait for.
const inCycles = ` f-7 (    7) [000] d... 2400000000: e0_0123456789abcd: (0x2) sp=90 g=5 hi=100 id=1
 f-7 (    7) [000] d... 3400000000: r1_0123456789abcd: (0x6) sp=90 g=5 hi=100
 f-8 (    7) [001] d... 3400000001: e0_0123456789abcd: (0x2) sp=290 g=9 hi=300 id=2
 f-8 (    7) [001] d... 3500000001: r1_0123456789abcd: (0x6) sp=290 g=9 hi=300
`

// cycles is madeUp by that counter: the clocks are read when it begins, after 100 ms, and
// after 1 s.
func cycles(events string) string {
	head, rest, _ := strings.Cut(madeUp, "# trace-clock")
	_, end, _ := strings.Cut(rest, "# ended")
	text := head + "# trace-clock x86-tsc\n# wall 1000000000000000000\n" +
		"# clock first 999990000 2000000000 1000010000\n# clock armed 1099990000 2200000000 1100010000\n# began 0123456789abcd\n" +
		events + "# ended" + strings.Replace(end, "2000000000 2.000000 2000000000", "1999990000 4000000000 2000010000", 1)
	return strings.ReplaceAll(text, "abcd 1\n", "abcd 2\n")
}

var negative = regexp.MustCompile(`[-−][0-9]`)

// TestReportClockJumps: where the clocks went apart while a recording was made, as when the
// machine slept, latencies are what they were, and it is said that the clock jumped.
func TestReportClockJumps(t *testing.T) {
	const jumped, back = "the clock jumped", "went back during 1 call, whose latency is shown as 0"
	for _, c := range []struct {
		name, from, to string
		says           string
		longest        string // the first call's latency, in the table
	}{
		{"nothing happens", "", "", "", "500ms"},
		{"the machine is slow to read its clocks", "1099990000 2200000000 1100010000", "1090000000 2200000000 1120000000", "", "500ms"},
		{"time is slewed", "1999990000 4000000000 2000010000", "1999990000 4000400000 2000010000", "", "500ms"},
		{"cycles went on for ten seconds of sleep", "1999990000 4000000000 2000010000", "1999990000 24000000000 2000010000", jumped, "500ms"},
		{"cycles began anew", "1999990000 4000000000 2000010000", "1999990000 77 2000010000", jumped, "500ms"},
		{"cycles began anew, and have come far", "1999990000 4000000000 2000010000", "1999990000 2000900000 2000010000", jumped, "500ms"},
		{"cycles stood still", "1999990000 4000000000 2000010000", "9999990000 4000000000 10000010000", jumped, "500ms"},
		{"a call slept for an hour", " 3400000000: r1", " 7203400000000: r1", "", "3600s"},
		{"cycles began anew during a call", "4000000000: r1", "40: r1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := cycles(inCycles)
			if c.name == "cycles began anew during a call" {
				// The call on the other thread begins before; its end is read before its begin.
				lines := strings.SplitAfter(inCycles, "\n")
				text = cycles(lines[0] + lines[2] + strings.Replace(lines[1], "3400000000", "40", 1) + strings.Replace(lines[3], "3500000001", "60", 1))
				c.says, c.longest = back, "0ns"
			} else if c.from != "" {
				if strings.Count(text, c.from) != 1 {
					t.Fatalf("%q is not in\n%s", c.from, text)
				}
				text = strings.Replace(text, c.from, c.to, 1)
			}
			for _, as := range []string{"probe", "trace"} {
				r := reported(t, text, shownAs(as)...)
				if r.code != 0 || !strings.Contains(r.stdout, c.longest) || negative.MatchString(r.stdout) {
					t.Errorf("--as %s: status %d, want %s\n%s%s", as, r.code, c.longest, r.stdout, r.stderr)
				}
				if c.says == "" && strings.Contains(r.stderr, "the clock") || !strings.Contains(r.stderr, c.says) {
					t.Errorf("--as %s says\n%s", as, r.stderr)
				}
				j := reported(t, text, "--as", as, "-o", "json")
				if strings.Contains(j.stdout, `:-`) {
					t.Errorf("--as %s: negative\n%s", as, j.stdout)
				}
			}
		})
	}
}
