package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/internal/printable"
)

// Check is one thing that was looked at, and what was found.
type Check struct {
	Check string
	// State is ok, unknown, warning or missing.
	State string
	Text  string
	// Fix is a command to type, "" where there is none.
	Fix string
	// NS, of one check only, is what hits of probes cost.
	NS *CostNS
}

// CostNS are costs in nanoseconds.
type CostNS struct {
	// Entry and Return are of hits where calls begin and end, Word of each word fetched.
	Entry  float64 `json:"entry"`
	Return float64 `json:"return"`
	Word   float64 `json:"word"`
}

// Text writes one of the costs.
func (CostNS) Text(ns float64) string { return nanoseconds(ns) }

// Checks writes a line for each check, in the order given; a table has the fix on a line
// of its own.
func Checks(w io.Writer, f Format, checks []Check) error {
	columns := []column[Check]{
		{"type", f == JSON, func(Check) any { return "check" }},
		{"check", true, func(c Check) any { return c.Check }},
		{"state", true, func(c Check) any { return c.State }},
		{"text", true, func(c Check) any { return c.Text }},
		{"fix", true, func(c Check) any { return nonzero(c.Fix) }},
		{"ns", f == JSON, func(c Check) any { return known(c.NS != nil, c.NS) }},
	}
	switch f {
	case JSON:
		return writeJSON(w, columns, checks...)
	case CSV, TSV:
		return writeRecords(w, f, true, columns, checks...)
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
