package valuetext

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
)

// AppendArgs writes the arguments of a call; note says why there are none, or more than these.
func AppendArgs(b []byte, args []capture.Value, note string) []byte {
	b = appendAll(append(b, '('), args, ", ", "=")
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
	switch {
	case end != "return":
		return append(append(b, " = "...), end...)
	case len(results) == 0:
		return b
	case len(results) == 1:
		return AppendText(append(b, " = "...), &results[0])
	}
	return append(appendAll(append(b, " = ("...), results, ", ", ""), ')')
}

// appendAll writes values, each behind its name and what joins it to that, or without.
func appendAll(b []byte, values []capture.Value, between, name string) []byte {
	for i := range values {
		if i > 0 {
			b = append(b, between...)
		}
		if name != "" {
			b = append(append(b, printable.Text(values[i].Name)...), name...)
		}
		b = AppendText(b, &values[i])
	}
	return b
}
