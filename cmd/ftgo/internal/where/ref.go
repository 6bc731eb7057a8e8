package where

import "github.com/ftgo/ftgo/internal/capture"

// Ref is a variable, or a part of one, that a filter asks for.
type Ref struct {
	// Path is as in Go, without blanks: "n", "req.URL.Path", "s.items[0].name", "*p".
	Path string
	Part capture.Part
}

// String writes it as filters do.
func (r Ref) String() string {
	if r.Part == capture.Whole {
		return r.Path
	}
	return string(r.Part) + "(" + r.Path + ")"
}
