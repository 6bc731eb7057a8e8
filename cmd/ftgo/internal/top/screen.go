package top

import (
	"context"
	"errors"
	"fmt"

	"github.com/gdamore/tcell/v3"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// ErrGone means that the terminal was closed.
var ErrGone = errors.New("the terminal is gone")

// keys maps keys without a letter to the runes that Press takes.
var keys = map[tcell.Key]rune{
	tcell.KeyUp: keyUp, tcell.KeyDown: keyDown, tcell.KeyPgUp: keyPageUp, tcell.KeyPgDn: keyPageDown,
	tcell.KeyHome: keyHome, tcell.KeyEnd: keyEnd, tcell.KeyEnter: keyEnter, tcell.KeyEscape: keyEscape,
	tcell.KeyBackspace: keyBackspace, tcell.KeyDelete: keyErase, tcell.KeyCtrlC: keyInterrupt,
}

var styles = [...]tcell.Style{
	Plain: tcell.StyleDefault, Bold: tcell.StyleDefault.Bold(true), Dim: tcell.StyleDefault.Dim(true),
	Chosen: tcell.StyleDefault.Reverse(true),
}

// user calls a function with the model of the screen, does what that wishes, and returns false to end.
type user func(func(*Model) Wish) bool

// Show draws a model on the whole terminal, again after each input and each wake, until use
// ends or ctx is done. It restores the terminal, even if use panics.
func Show(ctx context.Context, use user, wake <-chan struct{}) error {
	// Without negotiation, because the terminal's answers are slow over ssh and would reach the shell if ftgo is
	// killed. Finer keys and colours, which it asks for, are not needed.
	s, err := tcell.NewScreen(tcell.OptNegotiation(false), tcell.OptSanitizeContent(true))
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	defer s.Fini()
	s.EnableMouse(tcell.MouseButtonEvents)
	held := false // the primary mouse button
	for draw(s, use); ; draw(s, use) {
		on := true
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case ev := <-s.EventQ():
			switch ev := ev.(type) {
			case *tcell.EventError:
				return ErrGone
			case *tcell.EventResize:
				s.Sync()
			case *tcell.EventKey:
				on = press(use, ev)
			case *tcell.EventMouse:
				before := held
				held = ev.Buttons()&tcell.ButtonPrimary != 0
				on = point(use, ev, held && !before)
			}
		}
		if !on {
			return nil
		}
	}
}

func draw(s tcell.Screen, use user) {
	width, height := s.Size()
	s.Clear()
	var lines []Line
	use(func(m *Model) Wish {
		lines = m.Draw(width, height)
		return Nothing
	})
	for y, line := range lines {
		text, style := cli.Text(line.Text), styles[line.Style]
		for x := 0; text != "" && x < width; {
			rest, columns := s.Put(x, y, text, style)
			if rest == text {
				break
			}
			text, x = rest, x+columns
		}
	}
	s.Show()
}

func (use user) press(key rune) bool { return use(func(m *Model) Wish { return m.Press(key) }) }

func press(use user, ev *tcell.EventKey) bool {
	// Esc right before another key looks like that key with Alt.
	if ev.Modifiers()&tcell.ModAlt != 0 && !use.press(keyEscape) {
		return false
	}
	if key, ok := keys[ev.Key()]; ok {
		return use.press(key)
	}
	for _, key := range ev.Str() {
		if ev.Key() == tcell.KeyRune && !use.press(key) {
			return false
		}
	}
	return true
}

// point handles a mouse event; clicked means that the primary button was just pressed.
func point(use user, ev *tcell.EventMouse, clicked bool) bool {
	switch {
	case ev.Buttons()&tcell.WheelUp != 0:
		return use.press(keyUp)
	case ev.Buttons()&tcell.WheelDown != 0:
		return use.press(keyDown)
	case clicked:
		x, y := ev.Position()
		return use(func(m *Model) Wish { return m.Click(x, y) })
	}
	return true
}
