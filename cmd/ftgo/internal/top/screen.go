package top

import (
	"context"
	"errors"
	"fmt"

	"github.com/gdamore/tcell/v3"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// Painting is the content of the screen. Its methods are not called concurrently. Press and Click return
// false to end.
type Painting interface {
	Draw(width, height int) []Line
	Press(key rune) bool
	Click(x, y int) bool
}

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

// Show draws a painting on the whole terminal, again after each input and each wake, until the painting
// ends or ctx is done. It restores the terminal, even if the painting panics.
func Show(ctx context.Context, p Painting, wake <-chan struct{}) error {
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
	for draw(s, p); ; draw(s, p) {
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
				on = press(p, ev)
			case *tcell.EventMouse:
				before := held
				held = ev.Buttons()&tcell.ButtonPrimary != 0
				on = point(p, ev, held && !before)
			}
		}
		if !on {
			return nil
		}
	}
}

func draw(s tcell.Screen, p Painting) {
	width, height := s.Size()
	s.Clear()
	for y, line := range p.Draw(width, height) {
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

func press(p Painting, ev *tcell.EventKey) bool {
	// Esc right before another key looks like that key with Alt.
	if ev.Modifiers()&tcell.ModAlt != 0 && !p.Press(keyEscape) {
		return false
	}
	if key, ok := keys[ev.Key()]; ok {
		return p.Press(key)
	}
	for _, key := range ev.Str() {
		if ev.Key() == tcell.KeyRune && !p.Press(key) {
			return false
		}
	}
	return true
}

// point handles a mouse event; clicked means that the primary button was just pressed.
func point(p Painting, ev *tcell.EventMouse, clicked bool) bool {
	switch {
	case ev.Buttons()&tcell.WheelUp != 0:
		return p.Press(keyUp)
	case ev.Buttons()&tcell.WheelDown != 0:
		return p.Press(keyDown)
	case clicked:
		x, y := ev.Position()
		return p.Click(x, y)
	}
	return true
}
