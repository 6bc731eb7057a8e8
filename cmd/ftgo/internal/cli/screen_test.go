package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// terminal is a terminal that knows the control sequences of Screen. It wraps as real ones do: text in the last
// column wraps only when more text follows.
type terminal struct {
	width, height int
	rows          [][]rune
	x, y, top     int
}

func (m *terminal) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		var n int
		switch {
		case strings.HasPrefix(text, "\x1b[2K"):
			m.row(m.y, nil)
			text = text[4:]
		case strings.HasPrefix(text, "\x1b[1m"):
			text = text[4:]
		case strings.HasPrefix(text, "\x1b[m"):
			text = text[3:]
		case strings.HasPrefix(text, "\x1b[H"):
			m.y, m.x = m.top, 0
			text = text[3:]
		case strings.HasPrefix(text, "\x1b[J"):
			m.rows = m.rows[:min(m.y, len(m.rows))]
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			if _, err := fmt.Sscanf(text, "\x1b[%dA\r", &n); err != nil {
				return 0, fmt.Errorf("unknown sequence %q", text)
			}
			m.y, m.x = max(m.y-n, m.top), 0
			text = text[strings.IndexByte(text, '\r')+1:]
		default:
			r := []rune(text)[0]
			text = text[len(string(r)):]
			if r == '\n' {
				m.newline()
				continue
			}
			if m.x == m.width {
				m.newline()
			}
			m.row(m.y, append(slices.Clone(m.rowAt(m.y)), r))
			m.x++
		}
	}
	return len(p), nil
}

func (m *terminal) newline() {
	m.y, m.x = m.y+1, 0
	m.top = max(m.top, m.y-m.height+1)
}

func (m *terminal) rowAt(y int) []rune {
	if y < len(m.rows) {
		return m.rows[y]
	}
	return nil
}

func (m *terminal) row(y int, text []rune) {
	for len(m.rows) <= y {
		m.rows = append(m.rows, nil)
	}
	m.rows[y] = text
}

// resize wraps lines that are too long, as many terminals do.
func (m *terminal) resize(width, height int) {
	var rows [][]rune
	for _, row := range m.rows {
		for len(row) > width {
			rows, row = append(rows, row[:width]), row[width:]
		}
		rows = append(rows, row)
	}
	m.rows, m.width, m.height, m.y, m.x = rows, width, height, len(rows), 0
	m.top = max(m.y-height+1, 0)
}

// seen returns the lines that have not scrolled off.
func (m *terminal) seen() string {
	return (&terminal{rows: m.rows[min(m.top, len(m.rows)):]}).String()
}

func (m *terminal) String() string {
	var lines []string
	for _, row := range m.rows {
		lines = append(lines, string(row))
	}
	return strings.Join(lines, "\n")
}

func TestScreen(t *testing.T) {
	long := strings.Repeat("x", 25)
	for _, test := range []struct {
		name, before string
		height       int
		draws        []string
		want         string
	}{
		{"first", "", 5, []string{"a\nb\n"}, "a\nb"},
		{"no newline at the end", "", 5, []string{"a\nb"}, "a\nb"},
		{"replaces", "", 5, []string{"aaa\nbbb\n", "c\nd\n"}, "c\nd"},
		{"grows", "", 5, []string{"a\n", "b\nc\nd\n"}, "b\nc\nd"},
		{"shrinks", "", 5, []string{"a\nb\nc\n", "d\n"}, "d"},
		{"empties", "", 5, []string{"a\nb\n", ""}, ""},
		{"comes back", "", 5, []string{"a\nb\n", "", "c\n"}, "c"},
		{"long lines don't wrap", "", 5, []string{long + "\nb\n", "c\nd\n", long + "\ne\n"}, strings.Repeat("x", 19) + "…\ne"},
		{"as wide as the terminal", "", 5, []string{long[:20] + "\nb\n", long[:20] + "\nc\n"}, long[:20] + "\nc"},
		{"taller than the terminal", "", 5, []string{"a\nb\nc\nd\ne\nf\ng\n", "1\n2\n3\n4\n5\n6\n7\n"}, "1\n2\n3\n4"},
		{"blank lines", "", 5, []string{"a\n\nb\n", "c\n\n\nd\n"}, "c\n\n\nd"},
		{"below other output", "1\n2\n3\n4\n5\n6\n7\n", 5, []string{"a\nb\nc\nd\n", "e\nf\n", "g\nh\ni\n"}, "1\n2\n3\n4\n5\n6\n7\ng\nh\ni"},
		{"one line", "", 1, []string{"a\nb\n", "c\n"}, ""},
		{"two lines", "", 2, []string{"a\nb\nc\nd\n", "e\nf\ng\n"}, "e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &terminal{width: 20, height: test.height}
			fmt.Fprint(m, test.before)
			screen := &Screen{Terminal: m}
			for _, text := range test.draws {
				fixture.NoError(t, screen.Draw(text, m.width, m.height))
			}
			if got := m.String(); got != test.want {
				t.Errorf("screen shows\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestScreenResized checks that nothing of an old block remains after the terminal's size has changed.
func TestScreenResized(t *testing.T) {
	m := &terminal{width: 20, height: 6}
	fmt.Fprint(m, "1\n2\n")
	screen := &Screen{Terminal: m}
	wide := strings.Repeat("x", 20)
	for _, size := range [][2]int{{20, 6}, {8, 6}, {30, 12}, {30, 4}} {
		m.resize(size[0], size[1])
		for range 2 {
			fixture.NoError(t, screen.Draw(wide+"\nb\nc\n", m.width, m.height))
		}
		got := strings.TrimPrefix(m.seen(), "1\n2\n") // written before the block
		want := wide + "\nb\nc"
		if size[0] < 20 {
			want = wide[:7] + "…\nb\nc"
		}
		if got != want {
			t.Errorf("%v: screen shows\n%s\nwant\n%s", size, got, want)
		}
	}
}

func TestScreenOnBrokenWriter(t *testing.T) {
	if err := (&Screen{Terminal: brokenWriter{}}).Draw("a", 80, 24); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
