package parse

import (
	"bytes"
	"strings"
	"testing"
)

// checkPrefixes reads lines with prefixes in mind, and expects what a lineParser makes of
// each by itself.
func checkPrefixes(t *testing.T, p *lineParser, lines ...[]byte) {
	t.Helper()
	known := prefixes{lines: p}
	var got, want Event
	for i, line := range lines {
		gotKind := known.parse(line, &got)
		wantKind, _ := p.parse(line, &want)
		if g, w := describe(gotKind, &got), describe(wantKind, &want); g != w {
			t.Errorf("line %d %q\nafter others: %s\nby itself:    %s", i, line, g, w)
		}
	}
}

func TestPrefixes(t *testing.T) {
	const (
		prefix = "          target-14713   ( 14700) [001] d....  "
		event  = ": ftgo_entry_3_5f3a9c1d: (0x49ede0)"
	)
	p := newTraceParser(t)
	for _, second := range []string{
		prefix + "64725.374051" + event,
		prefix + "64725.374052: ftgo_return_1_5f3a9c1d: (0x49ede1) g=1 hi=2 sp=3",
		prefix + "2297574718910" + event,
		prefix + "2297574718910" + event + "\r",
		prefix + "18446744073709551615" + event,
		prefix + "18446744073709551616" + event,
		prefix + "18446744073.709551" + event,
		prefix + "18446744073.709552" + event,
		prefix + "64725.37405" + event,
		prefix + "64725.3740511" + event,
		prefix + ".374051" + event,
		prefix + "64725." + event,
		prefix + event,
		prefix + " 1" + event,
		prefix + "1 " + event,
		prefix + "1: ftgo_entry_3_5f3a9c1e: (0x49ede0)",
		prefix + "1: ftgo_entry_3_5f3a9c1d: (0x49ede0",
		prefix + "1: ftgo_entry_3_5f3a9c1d: (0x49ede0) g=1",
		prefix + "1: ftgo_entry_3_5f3a9c1d:",
		prefix + "1:",
		prefix + "1",
		prefix,
		prefix + "\r",
		strings.Replace(prefix, "001", "002", 1) + "1" + event,
		strings.Replace(prefix, "14700", "14701", 1) + "1" + event,
		strings.Replace(prefix, "d", "D", 1) + "1" + event,
		strings.Replace(prefix, "target", "tarmac", 1) + "1" + event,
		prefix + "1: ftgo_entry_3_5f3a9c1d: (0x1: ftgo_entry_3_5f3a9c1d: (0x49ede0)",
		"[LOST]" + prefix + "1" + event,
	} {
		first := []byte(prefix + "1" + event)
		checkPrefixes(t, p, first, []byte(second), first, []byte(second))
	}
}

// TestPrefixIsUsed has the columns of a line taken from the one before, false as they are.
func TestPrefixIsUsed(t *testing.T) {
	known := prefixes{lines: newTraceParser(t)}
	var ev Event
	line := []byte(typical)
	for i, want := range []int{14713, 7} {
		if kind := known.parse(line, &ev); kind != eventLine || ev.TID != want {
			t.Errorf("time %d: thread %d, kind %d; want %d", i, ev.TID, kind, want)
		}
		for k := range known.known {
			known.known[k].tid = 7
		}
	}
}

// FuzzPrefixes reads lines that begin with as much of the first as the second says.
func FuzzPrefixes(f *testing.F) {
	var all [][]byte
	for _, line := range traceLines(f) {
		all = append(all, line)
		f.Add(line, line, uint8(0))
		f.Add(line, append([]byte("7"), event(line)...), uint8(bytes.LastIndexByte(line[:len(line)-len(event(line))], ' ')+1))
	}
	for i := 1; i < len(all); i++ {
		f.Add(all[i-1], all[i], uint8(0))
	}
	p := newTraceParser(f)
	f.Fuzz(func(t *testing.T, first, second []byte, shared uint8) {
		n := min(int(shared), len(first))
		joined := append(bytes.Clone(first[:n]), second...)
		checkPrefixes(t, p, first, second, first, joined, first, second, joined)
	})
}

// event is the line's end from ": " before the event's name on.
func event(line []byte) []byte {
	i := bytes.Index(line, []byte(": ftgo_"))
	return line[max(i, 0):]
}
