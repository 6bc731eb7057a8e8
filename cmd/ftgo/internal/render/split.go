package render

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

type splitNS struct {
	Running  int64 `json:"running"`
	Runnable int64 `json:"runnable"`
	Waiting  int64 `json:"waiting"`
}

func newSplitNS(s stats.Split) *splitNS { return &splitNS{s.Running, s.Runnable, s.Waiting} }

var splitHeader = []string{"running_ns", "runnable_ns", "waiting_ns"}

// splitRecord returns the cells of CSV, empty where there was no latency.
func splitRecord(s stats.Split, known bool) []string {
	cells := make([]string, 3)
	if known {
		for i, ns := range [...]int64{s.Running, s.Runnable, s.Waiting} {
			cells[i] = strconv.FormatInt(ns, 10)
		}
	}
	return cells
}

// addSplits adds the shares of all the time that calls took.
func addSplits(g *grid, rows []stats.Row) {
	g.header = append(g.header, "RUN%", "RUNNABLE%", "WAIT%")
	for i, row := range rows {
		cells := []string{"-", "-", "-"}
		if s := row.Split; s.Sum() > 0 {
			for k, ns := range [...]int64{s.Running, s.Runnable, s.Waiting} {
				cells[k] = units.Percent(uint64(max(ns, 0)), uint64(s.Sum()))
			}
		}
		g.rows[i] = append(g.rows[i], cells...)
	}
}

func appendSplitJSON(b []byte, s stats.Split) []byte {
	return fmt.Appendf(b, `,"sched":{"running":%d,"runnable":%d,"waiting":%d}`, s.Running, s.Runnable, s.Waiting)
}

// appendSplit writes what a latency was spent with, in columns; blanks where there is none.
func (w *CallWriter) appendSplit(b []byte, c *CallLine) []byte {
	if !w.o.Sched {
		return b
	}
	var s stats.Split
	known := c != nil && c.End == "return"
	if known {
		s = c.Split
	}
	for _, part := range [...]struct {
		name string
		ns   int64
	}{{"run", s.Running}, {"runnable", s.Runnable}, {"wait", s.Waiting}} {
		text := "-"
		if known {
			text = units.Duration(part.ns)
		}
		b = append(b, ' ')
		for range 7 - printable.Columns(text) {
			b = append(b, ' ')
		}
		b = append(append(append(b, text...), ' '), part.name...)
	}
	return b
}
