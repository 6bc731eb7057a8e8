package render

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
)

// Check is one thing that was looked at, and what was found.
type Check struct {
	Check string `json:"check"`
	// State is ok, unknown, warning or missing.
	State string `json:"state"`
	Text  string `json:"text"`
	// Fix is a command to type, "" where there is none.
	Fix string `json:"fix,omitempty"`
	// NS, of one check only, is what hits of probes cost.
	NS *CostNS `json:"ns,omitempty"`
}

// CostNS are costs in nanoseconds.
type CostNS struct {
	// Entry and Return are of hits where calls begin and end, Word of each word fetched.
	Entry  float64 `json:"entry"`
	Return float64 `json:"return"`
	Word   float64 `json:"word"`
}

// Text writes one of the costs.
func (CostNS) Text(ns float64) string { return units.Duration(int64(math.Round(ns))) }

type checkLine struct {
	Type string `json:"type"`
	Check
}

// Checks writes a line for each check, in the order given; a table has the fix on a line
// of its own.
func Checks(w io.Writer, f Format, checks []Check) error {
	switch f {
	case JSON:
		lines := jsonLines{}
		for _, c := range checks {
			lines.add(checkLine{"check", c})
		}
		return lines.write(w)
	case CSV, TSV:
		records := [][]string{{"check", "state", "text", "fix"}}
		for _, c := range checks {
			records = append(records, []string{textCell(c.Check), textCell(c.State), textCell(c.Text), textCell(c.Fix)})
		}
		return writeRecords(w, f, records)
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
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write checks: %w", err)
	}
	return nil
}
