package top

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

//go:embed keys.txt
var keysText string

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
