package top

import "unicode/utf8"

// Characters for keys that have no character, like the arrows. screen.go translates the keys to control characters, most
// of which move the cursor in Emacs: Home is Ctrl-A, and Down is Ctrl-N. If the user presses Ctrl-A itself, screen.go
// ignores it. So each character means one key.
const (
	keyHome, keyEnd        = 0x01, 0x05
	keyPageUp, keyPageDown = 0x02, 0x06
	keyUp, keyDown         = 0x10, 0x0e
	keyBackspace, keyErase = 0x08, 0x7f
	keyEnter               = '\r'
	keyInterrupt           = 0x03
	keyEscape              = 0x1b
)

// scroller is the visible window of a list of rows, with a cursor.
type scroller struct {
	from   int    // the first visible row
	all    int    // the number of rows
	page   int    // the number of rows that fit on the screen
	at     int    // the row with the cursor, which keys move, and which the window follows
	filter string // the list has only rows that contain this text
	typing bool   // the user is typing the filter
}

// fit sets the number of rows, and the number of rows that fit on the screen. It moves the window and the cursor so that
// they are within the rows.
func (l *scroller) fit(all, page int) {
	l.all, l.page = all, max(page, 1)
	l.at = max(min(l.at, l.all-1), 0)
	l.from = min(max(l.from, l.at-l.page+1), l.at)
	l.from = max(min(l.from, l.all-l.page), 0)
}

// press handles a key. It returns false if the key has no meaning for the list.
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

func (l *scroller) first() { l.from, l.at = 0, 0 }

// move moves the cursor down by a number of rows. A negative number moves up.
func (l *scroller) move(rows int) {
	l.at += rows
	l.fit(l.all, l.page)
}

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
