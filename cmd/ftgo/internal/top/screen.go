package top

import (
	"context"
	"errors"
	"fmt"

	"github.com/gdamore/tcell/v3"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// Painting is what is on the screen. Its methods come one after the other. Press and Click tell whether
// to go on.
type Painting interface {
	Draw(width, height int) []Line
	Press(key rune) bool
	Click(x, y int) bool
}

// ErrGone: nobody looks at the terminal any more.
var ErrGone = errors.New("the terminal is gone")

// keys are those without a letter, as the rest of ftgo knows them.
var keys = map[tcell.Key]rune{
	tcell.KeyUp: keyUp, tcell.KeyDown: keyDown, tcell.KeyPgUp: keyPageUp, tcell.KeyPgDn: keyPageDown,
	tcell.KeyHome: keyHome, tcell.KeyEnd: keyEnd, tcell.KeyEnter: keyEnter, tcell.KeyEscape: keyEscape,
	tcell.KeyBackspace: keyBackspace, tcell.KeyDelete: keyErase, tcell.KeyCtrlC: keyInterrupt,
}

var styles = [...]tcell.Style{
	Plain: tcell.StyleDefault, Bold: tcell.StyleDefault.Bold(true), Dim: tcell.StyleDefault.Dim(true),
	Chosen: tcell.StyleDefault.Reverse(true),
}

// Show fills the terminal with a painting, again whenever something wakes it, until that says to end, or
// ctx does. The terminal is then as it was before, also if the painting panics.
func Show(ctx context.Context, p Painting, wake <-chan struct{}) error {
	// Nothing is asked of the terminal: answers take their time over ssh, one that is killed might leave
	// them to the shell, and what there is to be asked for, finer keys and colours, is not needed.
	s, err := tcell.NewScreen(tcell.OptNegotiation(false), tcell.OptSanitizeContent(true))
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	defer s.Fini()
	s.EnableMouse(tcell.MouseButtonEvents)
	v := &viewer{screen: s, painting: p}
	for v.draw(); ; v.draw() {
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case ev := <-s.EventQ():
			if _, gone := ev.(*tcell.EventError); gone {
				return ErrGone
			}
			if !v.happened(ev) {
				return nil
			}
		}
	}
}

// viewer is a painting on a screen.
type viewer struct {
	screen   tcell.Screen
	painting Painting
	held     bool // a button of the mouse
}

func (v *viewer) draw() {
	width, height := v.screen.Size()
	v.screen.Clear()
	for y, line := range v.painting.Draw(width, height) {
		text, style := terminal.Text(line.Text), styles[line.Style]
		for x := 0; text != "" && x < width; {
			rest, columns := v.screen.Put(x, y, text, style)
			if rest == text {
				break
			}
			text, x = rest, x+columns
		}
	}
	v.screen.Show()
}

// happened tells the painting of an event, and whether to go on.
func (v *viewer) happened(ev tcell.Event) bool {
	switch ev := ev.(type) {
	case *tcell.EventResize:
		v.screen.Sync()
	case *tcell.EventKey:
		// Esc that another key follows at once looks like one key with Alt.
		if ev.Modifiers()&tcell.ModAlt != 0 && !v.painting.Press(keyEscape) {
			return false
		}
		if key, ok := keys[ev.Key()]; ok {
			return v.painting.Press(key)
		}
		for _, key := range ev.Str() {
			if ev.Key() == tcell.KeyRune && !v.painting.Press(key) {
				return false
			}
		}
	case *tcell.EventMouse:
		return v.mouse(ev)
	}
	return true
}

func (v *viewer) mouse(ev *tcell.EventMouse) bool {
	held := v.held
	v.held = ev.Buttons()&tcell.ButtonPrimary != 0
	switch {
	case ev.Buttons()&tcell.WheelUp != 0:
		return v.painting.Press(keyUp)
	case ev.Buttons()&tcell.WheelDown != 0:
		return v.painting.Press(keyDown)
	case v.held && !held:
		x, y := ev.Position()
		return v.painting.Click(x, y)
	}
	return true
}
