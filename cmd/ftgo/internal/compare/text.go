package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/printable"
)

// Difference writes a row for each function, in the order of rows. A table shows the numbers of both sides and the changes; the other formats have p-values, too.
func Difference(w io.Writer, rows []Function, o render.Style) error {
	if f := o.Format; f != render.Table {
		return render.WriteRows(w, f, true, func(r Function) render.Row { return differenceMembers(r, f == render.JSON) }, rows...)
	}
	short := render.ShortNames(o.Full, rows, func(r Function) string { return r.Name })
	known := func(a Aspect) bool {
		return slices.ContainsFunc(rows, func(r Function) bool { return !math.IsNaN(r.Changes[a].Old) || !math.IsNaN(r.Changes[a].New) })
	}
	times := func(ns float64) string { return printable.Duration(int64(ns)) }
	return render.WriteTable(w, o.Width, rows, func(r Function) render.Row {
		cell := func(a Aspect, text func(float64) string) any {
			c := &r.Changes[a]
			switch {
			case !known(a):
				return render.NoColumn
			case math.IsNaN(c.Old):
				return nil
			}
			return text(c.Old) + "→" + text(c.New)
		}
		return render.Row{
			{"FUNCTION", cmp.Or(short[r.Name], r.Name)}, {"P50", cell(Latency, times)}, {"P99", cell(Tail, times)},
			{"RATE/s", cell(Calls, printable.Rate)}, {"ERR%", cell(Errors, printable.Share)}, {"CHANGED", changes(r)},
		}
	})
}

// changes returns the cell of the changed aspects, with their factors.
func changes(r Function) any {
	if r.Tested == 0 {
		return nil
	}
	var texts []string
	for a := range Aspects {
		if c := &r.Changes[a]; c.Changed {
			texts = append(texts, Names[a]+" "+factor(c))
		}
	}
	if texts == nil {
		return "~"
	}
	return strings.Join(texts, ", ")
}

func factor(c *Change) string {
	switch by := c.Factor(); {
	case math.IsInf(by, 1):
		return "new"
	case by == 0:
		return "gone"
	case by >= 2:
		return fmt.Sprintf("%.3gx", by)
	default:
		return fmt.Sprintf("%+.3g%%", 100*(by-1))
	}
}

// numbers are the keys of aspects in JSON and CSV.
var numbers = [Aspects]string{Calls: "rate", Errors: "error_share", Latency: "p50_ns", Tail: "p99_ns"}

// number returns x as the value of a key of numbers: an integer for times, nil for NaN.
func number(a Aspect, x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case a == Latency || a == Tail:
		return int64(x)
	}
	return x
}

// differenceMembers returns the members of a function in JSON, CSV and TSV.
func differenceMembers(r Function, json bool) render.Row {
	list := []string{}
	for a := range Aspects {
		if r.Changes[a].Changed {
			list = append(list, Names[a])
		}
	}
	changed := any(list)
	if !json {
		changed = strings.Join(list, " ")
	}
	o := render.Row{
		{"type", render.ColumnIf(json, "difference")}, {"function", &r.Name}, {"changed", changed}, {"p", render.ValueIf(r.Tested > 0, r.P)},
		{"old_calls", r.Seen[0].Calls}, {"new_calls", r.Seen[1].Calls},
	}
	for a := range Aspects {
		c := &r.Changes[a]
		old, now, p := number(a, c.Old), number(a, c.New), render.ValueIf(c.Tested, c.P)
		if json {
			of := render.Row{{"old", old}, {"new", now}, {"p", p}, {"changed", c.Changed}}
			o = append(o, render.Row{{numbers[a], render.ValueIf(!math.IsNaN(c.Old), of)}}...)
		} else {
			o = append(o, render.Row{{"old_" + numbers[a], old}, {"new_" + numbers[a], now}, {Names[a] + "_p", p}}...)
		}
	}
	return append(o, render.Row{{"slower", number(Calls, r.Slower)}}...)
}

// Compared contains the runs and the results of a comparison.
type Compared struct {
	Sides     [2][]*Run
	Functions []Function
	Alpha     float64
	AsSeen    bool // latencies include the cost of probes
}

// TooFew reports whether each side is a single run, so that the spread of runs is unknown.
func (c *Compared) TooFew() bool { return len(c.Sides[0]) == 1 && len(c.Sides[1]) == 1 }

// Numbers returns how many functions were tested, and how many have changed.
func (c *Compared) Numbers() (tested, changed int) {
	for i := range c.Functions {
		if c.Functions[i].Tested > 0 {
			tested++
		}
		if c.Functions[i].Changed {
			changed++
		}
	}
	return tested, changed
}

// sideOf returns the number of hosts, the sum of seconds and the lost events of the runs of a side.
func sideOf(runs []*Run) (hosts int, seconds float64, lost uint64) {
	known := make(map[string]bool)
	for _, r := range runs {
		known[r.Host] = true
		seconds += r.Seconds
		lost += r.Lost
	}
	return len(known), seconds, lost
}

// JSON writes the last line of a comparison.
func (c *Compared) JSON(w io.Writer) error {
	side := func(runs []*Run) render.Row {
		hosts, seconds, lost := sideOf(runs)
		return render.Row{{"runs", len(runs)}, {"hosts", hosts}, {"seconds", seconds}, {"lost", lost}}
	}
	tested, changed := c.Numbers()
	return render.WriteRows(w, render.JSON, false, func(c *Compared) render.Row {
		return render.Row{
			{"type", "comparison"}, {"old", side(c.Sides[0])}, {"new", side(c.Sides[1])}, {"functions", len(c.Functions)}, {"tested", tested},
			{"changed", changed}, {"alpha", c.Alpha}, {"as_seen", c.AsSeen},
		}
	}, c)
}

// Footer writes the summary of a comparison as text, for stderr.
func (c *Compared) Footer(w io.Writer) error {
	var f render.Notes
	tested, changed := c.Numbers()
	f.Line(!c.TooFew(), "%d of %s changed: at most %.4g%% of the unchanged ones are among them", changed, printable.Plural(len(c.Functions), "function"), 100*c.Alpha)
	for i, name := range [...]string{"old", "new"} {
		hosts, seconds, lost := sideOf(c.Sides[i])
		f.Line(true, "%s: %s on %s, %s together", name, printable.Plural(len(c.Sides[i]), "run"), printable.Plural(hosts, "host"), printable.Duration(int64(seconds*1e9)))
		f.Line(lost > 0, "%s lost %s: latencies speak for the other calls only", name, printable.Plural(lost, "event"))
	}
	f.Line(tested < len(c.Functions), "too few calls for a test: %s", printable.Plural(len(c.Functions)-tested, "function"))
	f.Line(c.AsSeen, "latencies include the cost of probes")
	return f.Write(w)
}
