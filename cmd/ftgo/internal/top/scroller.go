package top

import "unicode/utf8"

// Keys without a letter, as control characters that no other key sends.
const (
	keyHome, keyEnd        = 0x01, 0x05
	keyPageUp, keyPageDown = 0x02, 0x06
	keyUp, keyDown         = 0x10, 0x0e
	keyBackspace, keyErase = 0x08, 0x7f
	keyEnter               = '\r'
	keyInterrupt           = 0x03
	keyEscape              = 0x1b
)

// scroller is a window on a list of rows, moved by keys.
type scroller struct {
	from, all int // the first visible row, and the number of rows
	page      int // the number of rows that fit on the screen
	// With a cursor, keys move the chosen row, at, instead of the window.
	cursor bool
	at     int
	filter string // only rows that contain it are shown
	typing bool   // the filter is being typed
}

// fit keeps the window and the cursor within the rows.
func (l *scroller) fit(all, page int) {
	l.all, l.page = all, max(page, 1)
	if l.cursor {
		l.at = max(min(l.at, l.all-1), 0)
		l.from = min(max(l.from, l.at-l.page+1), l.at)
	}
	l.from = max(min(l.from, l.all-l.page), 0)
}

// press handles a key, and returns false if the list does not use it.
func (l *scroller) press(key rune) (known bool) {
	if l.typing {
		l.edit(key)
		return true
	}
	switch key {
	case '/':
		l.typing = true
		fallthrough
	case keyEscape:
		l.filter = ""
		l.first()
	case 'j', keyDown:
		l.move(1)
	case 'k', keyUp:
		l.move(-1)
	case ' ', keyPageDown:
		l.move(l.page)
	case 'b', keyPageUp:
		l.move(-l.page)
	case 'g', keyHome:
		l.first()
	case 'G', keyEnd:
		l.move(l.all)
	default:
		return false
	}
	return true
}

// first goes to the first row.
func (l *scroller) first() { l.from, l.at = 0, 0 }

func (l *scroller) move(rows int) {
	if l.cursor {
		l.at += rows
	} else {
		l.from += rows
	}
	l.fit(l.all, l.page)
}

// edit applies a key to the filter.
func (l *scroller) edit(key rune) {
	switch {
	case key == keyEnter:
		l.typing = false
	case key == keyEscape:
		l.typing, l.filter = false, ""
	case key == keyErase, key == keyBackspace:
		_, last := utf8.DecodeLastRuneInString(l.filter)
		l.filter = l.filter[:len(l.filter)-last]
	case key >= ' ':
		l.filter += string(key)
	}
	l.first()
}
