package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

const keysText = `KEYS
s, S           sort by the next column, or the one before
/              show what has in its name what you type; Enter ends it
Esc            show all again; go back
Down, j        go down; Up, k up; PgDn, Space a page down; PgUp, b up
End, G         go to the end; Home, g to the beginning
d              numbers since the last refresh, or from the beginning on
p              pause, or go on
w              begin anew with what calls wait for, or without
Enter          open a function: latencies, callers, slowest calls
q, Ctrl-C      quit

TOTAL          time of all calls, with WAIT, which is what they waited
SELF           the same without calls of other timed functions in them
TIMED          calls that latencies are of, where CALLS is an estimate (≈)
~ before P50   calls were lost
< before P50   as seen: probes may be nearly all of it; ≈ nearly so
budget         3/5 of --budget for the list, 2/5 for what is open
ftgo           what ftgo itself takes, of one CPU
`

// pressHelp handles a key while the help page is open. It closes the page unless the key scrolls it.
func (m *Model) pressHelp(key rune) {
	h := m.help
	if h.all <= h.page || key == '/' || key == keyEscape || !h.press(key) {
		m.help = nil
	}
}

// keys returns the visible lines of the help page, and the status line below them.
func (m *Model) keys(width, height int) (lines []Line, status string) {
	lines, h := m.keyLines(width), m.help
	if h.fit(len(lines), height); h.all <= h.page {
		return lines, "any key goes back"
	}
	status = fmt.Sprintf("%d to %d of %d; Down and Space scroll, others go back", h.from+1, h.from+h.page, h.all)
	return lines[h.from : h.from+h.page], status
}

// keyLines returns all lines of the help page: keysText, and below it the last messages, the newest first.
func (m *Model) keyLines(width int) (lines []Line) {
	for text := range strings.Lines(keysText) {
		if text = strings.TrimSuffix(text, "\n"); printable.Columns(text) > width {
			lines = append(lines, wrap(text, width)...)
		} else {
			lines = append(lines, Line{Text: text})
		}
	}
	lines[0].Style = Bold
	if m.messages != nil {
		lines = append(lines, Line{}, Line{"SAID", Bold})
	}
	for _, text := range slices.Backward(m.messages) {
		lines = append(lines, wrap(printable.Text(text), width)...)
	}
	return lines
}

// wrap breaks a text into lines between words. It indents all lines but the first.
func wrap(text string, width int) (lines []Line) {
	for i, line := range printable.Wrap(text, width-2) {
		if i > 0 {
			line = "  " + line
		}
		lines = append(lines, Line{Text: line})
	}
	return lines
}
