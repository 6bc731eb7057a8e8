package valuetext

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
)

// AppendArgs writes the arguments of a call; note says why there are none, or more than these.
func AppendArgs(b []byte, args []capture.Value, note string) []byte {
	b = append(b, '(')
	for i := range args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, printable.Text(args[i].Name)...), '=')
		b = AppendText(b, &args[i])
	}
	if note != "" {
		if len(args) > 0 {
			b = append(b, ", "...)
		}
		b = fmt.Appendf(b, "<%s>", printable.Text(note))
	}
	return append(b, ')')
}

// AppendResults writes how a call ended, "return" or otherwise: one result alone, several in parentheses.
func AppendResults(b []byte, end string, results []capture.Value) []byte {
	if end != "return" {
		return append(append(b, " = "...), end...)
	}
	n := len(results)
	if n == 0 {
		return b
	}
	b = append(b, " = "...)
	if n > 1 {
		b = append(b, '(')
	}
	for i := range results {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendText(b, &results[i])
	}
	if n > 1 {
		b = append(b, ')')
	}
	return b
}
