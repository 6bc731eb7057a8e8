package parse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func FuzzLine(f *testing.F) {
	for _, line := range traceLines(f) {
		f.Add(line)
	}
	p := newTraceParser(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		var ev Event
		kind := newTraceParser(t).parse(line, &ev)

		// A used event, bytes behind the line, and the lines that the parser has seen make no difference.
		used := Event{Format: 9, Time: 9, CPU: 9, TID: 9, PID: 9, Addr: 9, Args: []uint64{9, 9, 9}}
		followed := append(bytes.Clone(line), "0123 g=9}\n"...)[:len(line)]
		if kind2 := p.parse(followed, &used); describe(kind, &ev) != describe(kind2, &used) {
			t.Fatalf("%s, again %s", describe(kind, &ev), describe(kind2, &used))
		}
		if kind == eventLine {
			checkEvent(t, p, line, &ev)
		}
	})
}

// checkEvent prints the event as the kernel would and expects to read the same.
func checkEvent(t *testing.T, p *formats, line []byte, ev *Event) {
	t.Helper()
	if ev.Format < 0 || ev.Format >= len(traceFormats) || ev.CPU < 0 || ev.TID < 0 || ev.PID < 0 {
		t.Fatalf("%+v", ev)
	}
	f := traceFormats[ev.Format]
	if !bytes.Contains(line, []byte(": "+f.Event+": (0x")) {
		t.Fatalf("event %s not in line", f.Event)
	}
	var again strings.Builder
	again.WriteString(fmt.Sprintf("%16s-%-7d (%7d) [%03d] d..ff %12d: %s: (0x%x)",
		"comm", ev.TID, ev.PID, ev.CPU, ev.Time, f.Event, ev.Addr))
	args := ev.Args
	for i, name := range f.Args {
		if f.Len == nil || f.Len[i] == 0 {
			again.WriteString(fmt.Sprintf(" %s=0x%x", name, args[0]))
			args = args[1:]
			continue
		}
		again.WriteString(" " + name + "=")
		for k, v := range args[:f.Len[i]] {
			again.WriteString(fmt.Sprintf("%c0x%x", "{,"[min(k, 1)], v))
		}
		again.WriteString("}")
		args = args[f.Len[i]:]
	}
	if len(args) != 0 {
		t.Fatalf("%d values too many", len(args))
	}
	var ev2 Event
	if kind := p.parse([]byte(again.String()), &ev2); kind != eventLine || describe(kind, ev) != describe(kind, &ev2) {
		t.Errorf("%+v, printed and read again %+v", *ev, ev2)
	}
}

// FuzzSplitter cuts text into chunks of the sizes given. It comes out as the text without the lines that are too long.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\nbc\n\nd"), []byte{1, 2, 0, 3}, uint32(0))
	f.Add([]byte(typical+"\r\n"+typical), []byte{200}, uint32(0))
	f.Add([]byte("a\nb\n"), []byte{2}, uint32(maxLine))
	f.Add([]byte("a\nb\n"), []byte{1, 1}, uint32(maxLine+1))
	f.Add([]byte("\na\n"), []byte{181, 9}, uint32(maxLine))
	f.Add([]byte("tail\nb\n"), []byte{181, 9, 1}, uint32(maxLine+1))
	f.Add([]byte(""), []byte{181, 9}, uint32(maxLine+3))
	f.Fuzz(func(t *testing.T, text, sizes []byte, pad uint32) {
		// Padding in front makes lines as long as the limit without an input of that size.
		text = append(bytes.Repeat([]byte("x"), int(pad%(maxLine+10))), text...)
		var want, got []string
		lines := bytes.Split(text, []byte("\n"))
		for i, line := range lines {
			if len(line) > maxLine {
				want = append(want, "dropped")
			} else if i < len(lines)-1 {
				want = append(want, string(line))
			} else if len(line) > 0 {
				want = append(want, "rest "+string(line))
			}
		}
		var s splitter
		dropped := 0
		noteDropped := func() {
			for ; dropped < s.dropped; dropped++ {
				got = append(got, "dropped")
			}
		}
		for rest := text; len(rest) > 0; {
			n := min(len(rest), maxLine)
			if len(sizes) > 0 {
				n, sizes = min(int(sizes[0])*int(sizes[0])*2, n), sizes[1:]
			}
			s.feed(copy(s.room(), rest[:n]), func(line []byte) {
				noteDropped()
				got = append(got, string(line))
			})
			noteDropped()
			for i := range s.room() {
				s.room()[i] = '!' // the next read spoils it
			}
			rest = rest[n:]
		}
		if rest := string(s.rest()); rest != "" {
			got = append(got, "rest "+rest)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.300q, want %.300q", got, want)
		}
	})
}
