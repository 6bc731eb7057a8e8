package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that long work shows a line of progress, below all other output, and that the line is erased
// at the end.
func TestProgress(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(out io.Writer, e *Env)
		want string // the screen at the end
		most string // the last line of progress, or ""
	}{
		{"soon over", func(_ io.Writer, e *Env) {
			stop := e.Progress("reading")
			time.Sleep(showAfter - 1)
			stop()
		}, "", ""},
		{"long", func(_ io.Writer, e *Env) {
			stop := e.Progress("read")
			for n := range 3 {
				e.SetProgress("read", n+1, 3)
				time.Sleep(showAfter)
			}
			stop()
		}, "", "ftgo: read: 3 of 3"},
		{"told meanwhile", func(out io.Writer, e *Env) {
			stop := e.Progress("reading")
			for i := range 3 {
				time.Sleep(showAfter)
				e.Say("said %d", i)
				fmt.Fprintln(out, "data", i)
			}
			stop()
			e.Say("done")
		}, "ftgo: said 0\ndata 0\nftgo: said 1\ndata 1\nftgo: said 2\ndata 2\nftgo: done\n", "ftgo: reading"},
		{"one in another", func(_ io.Writer, e *Env) {
			stop := e.Progress("outer")
			time.Sleep(showAfter + 1)
			inner := e.Progress("inner")
			time.Sleep(showAfter + 1)
			inner()
			stop()
		}, "", "ftgo: inner"},
		{"wide and foreign", func(_ io.Writer, e *Env) {
			stop := e.Progress("\x1b[2J" + strings.Repeat("x", 100))
			time.Sleep(time.Second)
			stop()
		}, "", `ftgo: \x1b[2Jxxxxx` + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m lineTerminal
				line := &progressLine{w: &m, width: func() int { return 20 }}
				test.do(progressWriter{&m, line}, &Env{Stderr: progressWriter{&m, line}})
				if got := m.above + m.line; got != test.want {
					t.Errorf("at the end the screen shows %q, want %q", got, test.want)
				}
				if m.most != test.most {
					t.Errorf("the last line was %q, want %q", m.most, test.most)
				}
			})
		})
	}
}

// lineTerminal is a terminal that knows the control sequences of Progress.
type lineTerminal struct {
	above, line string
	most        string // the last line of progress that was shown
}

func (m *lineTerminal) Write(b []byte) (int, error) {
	for text := string(b); text != ""; {
		switch {
		case text[0] == '\r':
			line, rest, ok := strings.Cut(text[1:], "\x1b[K")
			if !ok || strings.ContainsAny(line, "\n\x1b") {
				return 0, fmt.Errorf("unknown sequence %q", text)
			}
			if m.line, text = line, rest; line != "" {
				m.most = line
			}
		default:
			line, rest, ok := strings.Cut(text, "\n")
			if !ok || m.line != "" {
				return 0, fmt.Errorf("%q written behind %q", text, m.line)
			}
			m.above += line + "\n"
			text = rest
		}
	}
	return len(b), nil
}

// TestProgressElsewhere checks that Progress writes only to terminals.
func TestProgressElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, talk strings.Builder
		o, e := ShareTerminal(&out, &talk)
		stop := (&Env{Stderr: e}).Progress("reading")
		time.Sleep(time.Minute)
		stop()
		if _, err := io.WriteString(o, "data"); err != nil || out.String() != "data" || talk.Len() > 0 {
			t.Errorf("%v: %q, %q", err, out.String(), talk.String())
		}
	})
}
