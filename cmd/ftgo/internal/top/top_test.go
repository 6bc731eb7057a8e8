package top

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// page returns a page of n functions, with numbers that grow with each refresh.
func page(n, refresh int) Page {
	p := Page{
		Head:    []string{fmt.Sprintf("ftgo top  shop 4711  %ds, 14860 functions, %d of them called, 3 timed", refresh, n), "probes take 3.12% of its CPU time, since the start 2.50%, budget 15%, ftgo 4.00%"},
		Columns: []string{"CALLS", "RATE/s", "TOTAL", "SELF", "P50", "P99", "ERRORS", "COUNTED"},
	}
	for i := range n {
		calls := int64((n - i) * 100 * refresh)
		cell := func(key int64, text string) render.Cell { return render.Cell{Text: text, Key: key} }
		c := []render.Cell{
			cell(calls, fmt.Sprint(calls)), cell(int64(n-i), fmt.Sprint(n-i)), cell(int64(i*refresh), fmt.Sprintf("%dms", i*refresh)), cell(int64(i/2), fmt.Sprintf("%dms", i/2)),
			cell(1250, "1.25µs"), cell(12300000, "<12.3ms"), {}, {},
		}
		if i == 1 {
			unknown := cell(-1, "*")
			c[2], c[3], c[4], c[5], c[7] = unknown, cell(-1, ""), unknown, unknown, c[0]
		}
		p.Rows = append(p.Rows, Row{
			ID: i, Name: fmt.Sprintf("store.(*Store).get%02d", i), Full: fmt.Sprintf("example.com/shop/store.(*Store).get%02d", i), Cells: c,
		})
	}
	return p
}

// one returns an open function.
func one(refresh int) One {
	l := One{Lines: []Line{
		{Text: fmt.Sprintf("%d calls, 128/s  p50 1.25µs  p90 2.5µs  p99 12.3ms  max 1.2s", refresh*128)},
		{Text: "probes take 3.12% of its CPU time, since the start 2.50%, budget 15%, ftgo 4.00%"},
		{Text: "running 10%, runnable 2.00%, waiting 88%: chan receive, select"}, {Text: "CALLERS, by time", Style: Bold},
	}}
	for i := range 8 {
		l.Lines = append(l.Lines, Line{Text: fmt.Sprintf("%8s  main.handle%d < net/http.serverHandler.ServeHTTP < net/http.(*conn).serve", fmt.Sprintf("%d%%", 40-i), i)})
	}
	l.Lines = append(l.Lines, Line{Text: "SLOWEST CALLS", Style: Bold})
	for i := range 12 {
		l.Lines = append(l.Lines, Line{Text: fmt.Sprintf("+   %dms  goroutine %d  (key=\"k%d\", n=3) = (\"\x1b[31mred\", nil)", 900-i, i+7, i)})
	}
	return l
}

// screen returns the drawn lines, each with a letter for its style.
func screen(t *testing.T, m *Model, width, height int) string {
	t.Helper()
	lines := m.Draw(width, height)
	if len(lines) != height {
		t.Errorf("%d lines of %d", len(lines), height)
	}
	var b strings.Builder
	for _, l := range lines {
		if w := printable.Columns(l.Text); w > width || strings.ContainsFunc(l.Text, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%d columns of %d, or a control character: %q", w, width, l.Text)
		}
		fmt.Fprintf(&b, "%c|%s\n", "pBdC"[l.Style], strings.TrimRight(l.Text, " "))
	}
	return b.String()
}

// TestModel types keys and changes the size step by step, and compares the screen after each step.
func TestModel(t *testing.T) {
	m := New(2)
	m.Show(page(30, 1))
	var got strings.Builder
	for _, step := range []struct {
		what, keys    string
		do            func()
		width, height int
	}{
		{what: "at first"},
		{what: "sorted by the next column", keys: "s"},
		{what: "by the one before, and that before", keys: "SS"},
		{what: "by names", keys: "SS"},
		{what: "by calls again", keys: "s"},
		{what: "the third row", keys: "jj"},
		{what: "a refresh follows it", do: func() { m.Show(page(30, 2)) }},
		{what: "a filter that is typed", keys: "jj/GET1"},
		{what: "a letter less, and done", keys: "2\x7f\r"},
		{what: "all", keys: "\x1b"},
		{what: "the end", keys: "G"},
		{what: "the beginning, and there is news", keys: "g", do: func() { m.Show(page(31, 3)) }},
		{what: "talk", do: func() { m.Say("forged\x1b[2J: a\nb") }},
		{what: "help", keys: "?", do: func() {
			m.Say("probes take more than 15% of the program's CPU time: calls of some functions are counted, or not seen, for some of the time: " + strings.Repeat("x", 90) + " (--budget 0 sets no limit)")
		}, width: 80, height: 40},
		{what: "help that is too tall", width: 40, height: 10},
		{what: "back, 40 by 10", keys: "/", width: 40, height: 10},
		{what: "200 by 50", width: 200, height: 50},
		{what: "very small", width: 7, height: 3},
		{what: "nothing to show it on", width: 0, height: 1},
	} {
		for _, key := range step.keys {
			if action := m.Press(key); action != Nothing {
				t.Errorf("%s: action %d", step.what, action)
			}
		}
		if step.do != nil {
			step.do()
		}
		if step.width == 0 && step.height == 0 {
			step.width, step.height = 80, 12
		}
		fmt.Fprintf(&got, "=== %s\n%s", step.what, screen(t, m, step.width, step.height))
	}
	fixture.Golden(t, "testdata/table.txt", got.String())
}

// TestOne compares the screen of an open function.
func TestOne(t *testing.T) {
	m := New(0)
	m.Show(page(3, 1))
	var got strings.Builder
	if action := m.Press('\r'); action != Open {
		t.Fatalf("Enter: action %d", action)
	}
	row, _ := m.Chosen()
	o := &One{Name: row.Full}
	m.OpenOne(o)
	m.ShowOne(o, One{Lines: []Line{{Text: "placing probes"}}})
	fmt.Fprintf(&got, "=== at first\n%s", screen(t, m, 80, 24))
	m.ShowOne(o, one(20))
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 50}, {7, 3}} {
		fmt.Fprintf(&got, "=== %d by %d\n%s", size[0], size[1], screen(t, m, size[0], size[1]))
	}
	if action := m.Press(keyEscape); action != Close {
		t.Errorf("Esc: action %d", action)
	}
	fmt.Fprintf(&got, "=== back\n%s", screen(t, m, 80, 5))
	fixture.Golden(t, "testdata/one.txt", got.String())
}

// TestQuit checks that q and Ctrl-C end the screen.
func TestQuit(t *testing.T) {
	m := New(0)
	m.Show(page(3, 1))
	for _, before := range []string{"", "/x"} {
		for _, key := range before {
			m.Press(key)
		}
		if action := m.Press(keyInterrupt); action != Quit {
			t.Errorf("%q, Ctrl-C: action %d", before, action)
		}
	}
	m.Press(keyEscape)
	if action := m.Press('q'); action != Quit {
		t.Errorf("q: action %d", action)
	}
}

// FuzzModel checks that no key and no size breaks the screen.
func FuzzModel(f *testing.F) {
	f.Add("smjMkG/abc\x1b", uint8(80), uint8(24))
	f.Add("?x\rS", uint8(40), uint8(10))
	f.Fuzz(func(t *testing.T, keys string, width, height uint8) {
		m := New(2)
		m.Show(page(5, 1))
		for i, key := range keys {
			if m.Press(key) == Open {
				o := &One{Name: "x"}
				m.ShowOne(o, one(i%30))
				m.OpenOne(o)
			}
			m.Show(page(i%9, i))
			screen(t, m, int(width), max(int(height), 1))
		}
	})
}

// TestExample checks that the page of examples has the screens of these tests.
func TestExample(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "examples", "top.md")
	b, err := os.ReadFile(path)
	fixture.NoError(t, err)
	m := New(2)
	m.Show(page(30, 1))
	want := []string{screen(t, m, 80, 12)}
	o := &One{Name: "example.com/shop/store.(*Store).get29"}
	m.OpenOne(o)
	m.ShowOne(o, one(20))
	parts := strings.Split(string(b), "```\n")
	for i, text := range append(want, screen(t, m, 80, 24)) {
		var plain strings.Builder
		for line := range strings.Lines(text) {
			plain.WriteString(line[2:])
		}
		switch at := 2*i + 1; {
		case at >= len(parts):
			t.Fatalf("%s has %d parts", path, len(parts))
		case parts[at] != plain.String() && os.Getenv("FTGO_UPDATE") == "":
			t.Errorf("%s has another screen %d (FTGO_UPDATE=1 writes it)", path, i+1)
		default:
			parts[at] = plain.String()
		}
	}
	if os.Getenv("FTGO_UPDATE") != "" {
		fixture.NoError(t, os.WriteFile(path, []byte(strings.Join(parts, "```\n")), 0o644))
	}
}
