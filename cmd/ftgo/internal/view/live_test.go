package view

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/internal/stats"
)

// TestLive: the table on a terminal scrolls, filters, tells its keys, and fits when the terminal is resized.
func TestLive(t *testing.T) {
	width, height := 80, 10
	var drawn bytes.Buffer
	l := &live{
		size:   func() (int, int) { return width, height },
		screen: terminal.NewScreen(&drawn), orders: []string{"calls", "name"},
		keys: &terminal.Keys{Typed: make(chan rune, 16), Restore: func() {}},
	}
	var rows []stats.Row
	for i := range 30 {
		rows = append(rows, stats.Row{Function: stats.Function{Name: fmt.Sprintf("main.f%02d", i), Calls: uint64(30 - i)}})
	}
	if err := l.show(rows); err != nil {
		t.Fatal(err)
	}
	control := regexp.MustCompile("\x1b\\[[0-9]*[A-Za-z]\r?")
	name := regexp.MustCompile(`main\.f\d\d`)
	check := func(what, first, last, status string, n int) {
		t.Helper()
		lines := strings.Split(strings.TrimSuffix(control.ReplaceAllString(drawn.String(), ""), "\n"), "\n")
		names := name.FindAllString(strings.Join(lines, "\n"), -1)
		if len(names) != n || names[0] != "main."+first || names[n-1] != "main."+last || !strings.Contains(lines[len(lines)-1], status) {
			t.Errorf("%s: want %d rows, %s to %s, and %q:\n%s", what, n, first, last, status, strings.Join(lines, "\n"))
		}
		drawn.Reset()
	}
	typed := func(keys string) (err error) {
		for _, key := range keys {
			drawn.Reset()
			l.keys.Typed <- key
			err = errors.Join(err, l.obey())
		}
		return err
	}
	check("first", "f00", "f06", "by calls, 1 to 7 of 30; s sorts, / filters, p pauses, ? helps, q quits", 7)
	for _, step := range []struct {
		what, keys, first, last, status string
		n                               int
	}{
		{"up at the beginning", "k", "f00", "f06", "1 to 7 of 30", 7},
		{"down", "j" + string(rune(terminal.Down)), "f02", "f08", "3 to 9 of 30", 7},
		{"a page", " ", "f09", "f15", "10 to 16 of 30", 7},
		{"back", "b", "f02", "f08", "3 to 9 of 30", 7},
		{"the end, and beyond", "Gjj ", "f23", "f29", "24 to 30 of 30", 7},
		{"another order", "ss", "f00", "f06", "by calls, 1 to 7 of 30", 7},
		{"a filter is typed", "/f22" + string(rune(terminal.Erase)), "f20", "f26", "/f2_", 7},
		{"a filter", "\n", "f20", "f26", "by calls, with f2, 1 to 7 of 10; ", 7},
		{"no filter", "\x1b", "f00", "f06", "by calls, 1 to 7 of 30", 7},
		{"one row", "/f17\n", "f17", "f17", "by calls, with f17; s sorts", 1},
		{"all again", "/\x1b", "f00", "f06", "by calls, 1 to 7 of 30", 7},
	} {
		if err := typed(step.keys); err != nil {
			t.Fatal(err)
		}
		check(step.what, step.first, step.last, step.status, step.n)
	}
	if err := typed("?"); err != nil || !strings.Contains(drawn.String(), "\x1b[1mKEYS\x1b[m") || !strings.Contains(drawn.String(), "calls, name") {
		t.Errorf("%v: no keys in %q", err, drawn.String())
	}
	drawn.Reset()
	if err := typed("q"); err != nil {
		t.Errorf("a key that only goes back: %v", err)
	}
	check("behind the keys", "f00", "f06", "by calls", 7)
	if err := l.obey(); err != nil || drawn.Len() > 0 {
		t.Errorf("nothing has changed, and %v, %q", err, drawn.String())
	}
	width, height = 40, 6
	if err := l.obey(); err != nil || !strings.HasPrefix(drawn.String(), "\x1b[H\x1b[2K") {
		t.Errorf("resized: %v, %q", err, drawn.String())
	}
	check("resized", "f00", "f02", "by calls, 1 to 3 of 30; s sorts, / filt…", 3)
	width, height = 0, 0 // the terminal does not say
	if err := typed("j"); err != nil {
		t.Fatal(err)
	}
	check("without a size", "f00", "f29", "by calls; s sorts", 30)
	if err := typed("q"); !errors.Is(err, run.ErrEnough) {
		t.Errorf("q: %v", err)
	}
}
