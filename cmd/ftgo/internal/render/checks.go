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
	columns := []column[doctor.Finding]{
		{"type", f == JSON, func(doctor.Finding) any { return "check" }},
		{"check", true, func(c doctor.Finding) any { return c.Check }},
		{"state", true, func(c doctor.Finding) any { return c.State }},
		{"text", true, func(c doctor.Finding) any { return c.Text }},
		{"fix", true, func(c doctor.Finding) any { return nonzero(c.Fix) }},
		{"ns", f == JSON, func(c doctor.Finding) any { return known(c.Check == "cost", cost) }},
	}
	if f != Table {
		return writeData(w, f, true, columns, checks...)
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
