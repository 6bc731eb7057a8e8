package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/printable"
)

// Checks writes a line for each finding, in the order given; a table has the fix on a line
// of its own. cost, if not nil, is what JSON has of the check "cost".
func Checks(w io.Writer, f Format, checks []doctor.Finding, cost any) error {
	if f != Table {
		return writeData(w, f, true, func(c doctor.Finding) object {
			return object{
				{"type", shown(f == JSON, "check")}, {"check", c.Check}, {"state", c.State}, {"text", c.Text},
				{"fix", nonzero(c.Fix)}, {"ns", shown(f == JSON && c.Check == "cost", cost)},
			}
		}, checks...)
	}
	widest := 0
	for _, c := range checks {
		widest = max(widest, len(c.Check))
	}
	var text bytes.Buffer
	for _, c := range checks {
		fmt.Fprintf(&text, "%-7s  %-*s  %s\n", c.State, widest, c.Check, printable.Text(c.Text))
		if c.Fix != "" {
			fmt.Fprintf(&text, "%-7s  %-*s  $ %s\n", "", widest, "", printable.Text(c.Fix))
		}
	}
	return write(w, "checks", text.Bytes())
}
