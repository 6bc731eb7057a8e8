package top

import (
	"context"
	"errors"
	"fmt"

	"github.com/gdamore/tcell/v3"
)

// keys maps keys without a character, like Home, to the runes that Press takes for them.
var keys = map[tcell.Key]rune{
	tcell.KeyUp: keyUp, tcell.KeyDown: keyDown, tcell.KeyPgUp: keyPageUp, tcell.KeyPgDn: keyPageDown,
	tcell.KeyHome: keyHome, tcell.KeyEnd: keyEnd, tcell.KeyEnter: keyEnter, tcell.KeyEscape: keyEscape,
	tcell.KeyBackspace: keyBackspace, tcell.KeyDelete: keyErase, tcell.KeyCtrlC: keyInterrupt,
}

var styles = [...]tcell.Style{
	Plain: tcell.StyleDefault, Bold: tcell.StyleDefault.Bold(true), Dim: tcell.StyleDefault.Dim(true),
	Chosen: tcell.StyleDefault.Reverse(true),
}

// handler calls a func with the model of the screen, and performs the action that the func returns. It returns false if the
// screen must be closed.
type handler func(func(*Model) Action) bool

// Show draws a model on the whole terminal, and draws it again after each input and after each value from wake, until
// handle returns false or ctx is done. It restores the terminal, even if handle panics.
func Show(ctx context.Context, handle handler, wake <-chan struct{}) error {
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
	for draw(s, handle); ; draw(s, handle) {
		goOn := true
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case ev := <-s.EventQ():
			switch ev := ev.(type) {
			case *tcell.EventError:
				return errors.New("the terminal was closed")
			case *tcell.EventResize:
				s.Sync()
			case *tcell.EventKey:
				goOn = press(handle, ev)
			}
		}
		if !goOn {
			return nil
		}
	}
}

func draw(s tcell.Screen, handle handler) {
	width, height := s.Size()
	s.Clear()
	var lines []Line
	handle(func(m *Model) Action {
		lines = m.Draw(width, height)
		return Nothing
	})
	for y, line := range lines {
		s.PutStrStyled(0, y, line.Text, styles[line.Style])
	}
	s.Show()
}

func (handle handler) press(key rune) bool {
	return handle(func(m *Model) Action { return m.Press(key) })
}

func press(handle handler, ev *tcell.EventKey) bool {
	// Esc right before another key looks like that key with Alt.
	if ev.Modifiers()&tcell.ModAlt != 0 && !handle.press(keyEscape) {
		return false
	}
	if key, ok := keys[ev.Key()]; ok {
		return handle.press(key)
	}
	for _, key := range ev.Str() {
		if ev.Key() == tcell.KeyRune && !handle.press(key) {
			return false
		}
	}
	return true
}
