package ftrace

import "fmt"

// maxQuoted bounds how much of a bad line its error keeps, in bytes: a stream
// of rubbish shouldn't be held in memory by those who collect errors.
const maxQuoted = 200

// syntaxError is a line that a lineParser doesn't understand.
type syntaxError struct {
	// Line is the line without its line end, cut after 200 bytes.
	// It may hold anything; Error quotes it.
	Line string
	// Col is the byte where understanding ended, counted from 1. It may lie
	// behind a Line that was cut.
	Col int
	// Msg is what was expected or wrong there.
	Msg string
	// Event is the event the line belongs to, so that its hit was delivered but
	// can't be used. It is empty for a line that is none of ours: the first half
	// of a line that a newline in a thread's name cut in two, or another event's.
	Event string

	cut bool
}

func newSyntaxError(line []byte, at int, msg, event string) *syntaxError {
	err := &syntaxError{Col: at + 1, Msg: msg, Event: event}
	if len(line) > maxQuoted {
		line, err.cut = line[:maxQuoted], true
	}
	err.Line = string(line)
	return err
}

// Error quotes the line, control characters escaped.
func (e *syntaxError) Error() string {
	dots := ""
	if e.cut {
		dots = "…"
	}
	return fmt.Sprintf("parse line %q%s: column %d: %s", e.Line, dots, e.Col, e.Msg)
}
