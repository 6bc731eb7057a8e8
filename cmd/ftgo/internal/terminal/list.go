package terminal

import "unicode/utf8"

// List is which rows of many a screen shows, as keys say.
type List struct {
	From, All int // the first row that is shown, and how many there are
	Page      int // how many the screen has room for
	// Cursor: one of the rows is chosen, At, and keys move it rather than the screen.
	Cursor bool
	At     int
	Filter string // what rows have that are shown
	Typing bool   // of the filter
}

// Fit has the list show rows that there are.
func (l *List) Fit(all, page int) {
	l.All, l.Page = all, max(page, 1)
	if l.Cursor {
		l.At = max(min(l.At, l.All-1), 0)
		l.From = min(max(l.From, l.At-l.Page+1), l.At)
	}
	l.From = max(min(l.From, l.All-l.Page), 0)
}

// Press does what a key says, if that is for the list.
func (l *List) Press(key rune) (known bool) {
	if l.Typing {
		l.edit(key)
		return true
	}
	switch key {
	case '/':
		l.Typing = true
		fallthrough
	case Escape:
		l.Filter = ""
		l.first()
	case 'j', Down:
		l.move(1)
	case 'k', Up:
		l.move(-1)
	case ' ', PageDown:
		l.move(l.Page)
	case 'b', PageUp:
		l.move(-l.Page)
	case 'g', Home:
		l.first()
	case 'G', End:
		l.move(l.All)
	default:
		return false
	}
	return true
}

// first goes to the first row.
func (l *List) first() { l.From, l.At = 0, 0 }

func (l *List) move(rows int) {
	if l.Cursor {
		l.At += rows
	} else {
		l.From += rows
	}
	l.Fit(l.All, l.Page)
}

// edit changes the filter by a key.
func (l *List) edit(key rune) {
	switch {
	case key == Enter:
		l.Typing = false
	case key == Escape:
		l.Typing, l.Filter = false, ""
	case key == Erase, key == Backspace:
		_, last := utf8.DecodeLastRuneInString(l.Filter)
		l.Filter = l.Filter[:len(l.Filter)-last]
	case key >= ' ':
		l.Filter += string(key)
	}
	l.first()
}
