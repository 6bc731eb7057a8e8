package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/internal/printable"
)

// Side is what one side of a comparison is of.
type Side struct {
	Runs, Hosts int
	Seconds     float64 // of all runs, one after the other
	Lost        uint64  // events
}

// Difference writes a row for each function, in the order given; of o, tables heed Width and FullNames. A table
// shows the numbers of both sides, and what has changed; the other formats have all, with p-values.
func Difference(w io.Writer, f Format, rows []compare.Function, o Options) error {
	if f != Table {
		return writeData(w, f, true, func(r compare.Function) object { return differenceMembers(r, f == JSON) }, rows...)
	}
	short := shortNames(o.FullNames, rows, func(r compare.Function) string { return r.Name })
	known := func(a compare.Aspect) bool {
		for i := range rows {
			if !math.IsNaN(rows[i].Changes[a].Old) || !math.IsNaN(rows[i].Changes[a].New) {
				return true
			}
		}
		return false
	}
	times := func(ns float64) string { return printable.Duration(int64(ns)) }
	return writeTable(w, o.Width, rows, func(r compare.Function, _ bool) object {
		cell := func(a compare.Aspect, text func(float64) string) any {
			c := &r.Changes[a]
			switch {
			case !known(a):
				return hidden
			case math.IsNaN(c.Old):
				return nil
			}
			return text(c.Old) + "→" + text(c.New)
		}
		name := r.Name
		if s := short[r.Name]; s != "" {
			name = s
		}
		return object{
			{"FUNCTION", name}, {"P50", cell(compare.Latency, times)}, {"P99", cell(compare.Tail, times)},
			{"RATE/s", cell(compare.Calls, printable.Rate)}, {"ERR%", cell(compare.Errors, share)}, {"CHANGED", changes(r)},
		}
	})
}

// changes says what has changed, and by how much.
func changes(r compare.Function) any {
	if !r.Tested {
		return nil
	}
	var texts []string
	for a := range compare.Aspects {
		if c := &r.Changes[a]; c.Changed {
			texts = append(texts, compare.Names[a]+" "+factor(c))
		}
	}
	if texts == nil {
		return "~"
	}
	return strings.Join(texts, ", ")
}

// factor is by how much something has changed.
func factor(c *compare.Change) string {
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

// numbers are the keys and columns of an aspect.
var numbers = [compare.Aspects]string{compare.Calls: "rate", compare.Errors: "error_share", compare.Latency: "p50_ns", compare.Tail: "p99_ns"}

// number is one of them: times are whole numbers, and what is not known is nothing.
func number(a compare.Aspect, x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case a == compare.Latency || a == compare.Tail:
		return int64(x)
	}
	return x
}

// differenceMembers are what JSON, CSV and TSV have of a function.
func differenceMembers(r compare.Function, json bool) object {
	list := []string{}
	for a := range compare.Aspects {
		if r.Changes[a].Changed {
			list = append(list, compare.Names[a])
		}
	}
	changed := any(list)
	if !json {
		changed = strings.Join(list, " ")
	}
	o := object{
		{"type", shown(json, "difference")}, {"function", &r.Name}, {"changed", changed}, {"p", known(r.Tested, r.P)},
		{"old_calls", r.Seen[0].Calls}, {"new_calls", r.Seen[1].Calls},
	}
	for a := range compare.Aspects {
		c := &r.Changes[a]
		old, now, p := number(a, c.Old), number(a, c.New), known(c.Tested, c.P)
		if json {
			of := object{{"old", old}, {"new", now}, {"p", p}, {"changed", c.Changed}}
			o = append(o, member{numbers[a], known(!math.IsNaN(c.Old), of)})
		} else {
			o = append(o, member{"old_" + numbers[a], old}, member{"new_" + numbers[a], now}, member{compare.Names[a] + "_p", p})
		}
	}
	return append(o, member{"slower", number(compare.Calls, r.Slower)})
}

// Compared is what holds for a whole comparison.
type Compared struct {
	Sides                      [2]Side
	Functions, Tested, Changed int
	Alpha                      float64
	AsSeen                     bool // latencies have in them what probes cost
}

// TooFew tells whether nothing is known of how much runs of one side differ by themselves.
func (c *Compared) TooFew() bool { return c.Sides[0].Runs == 1 && c.Sides[1].Runs == 1 }

// ComparedJSON writes the object that ends a comparison.
func ComparedJSON(w io.Writer, c Compared) error {
	side := func(s Side) object {
		return object{{"runs", s.Runs}, {"hosts", s.Hosts}, {"seconds", s.Seconds}, {"lost", s.Lost}}
	}
	return write(w, "json", object{
		{"type", "comparison"}, {"old", side(c.Sides[0])}, {"new", side(c.Sides[1])}, {"functions", c.Functions}, {"tested", c.Tested},
		{"changed", c.Changed}, {"alpha", c.Alpha}, {"as_seen", c.AsSeen},
	}.append(nil, JSON))
}

// ComparedFooter writes the same, meant for stderr.
func ComparedFooter(w io.Writer, c Compared) error {
	var f footer
	f.line(!c.TooFew(), "%d of %s changed: of those that did not, at most %.4g%% are called so", c.Changed, printable.Plural(c.Functions, "function"), 100*c.Alpha)
	for i, name := range [...]string{"old", "new"} {
		s := c.Sides[i]
		f.line(true, "%s: %s on %s, %s together", name, printable.Plural(s.Runs, "run"), printable.Plural(s.Hosts, "host"), printable.Duration(int64(s.Seconds*1e9)))
		f.line(s.Lost > 0, "%s lost %s: latencies speak for the other calls only", name, printable.Plural(s.Lost, "event"))
	}
	f.line(c.Tested < c.Functions, "too few calls to tell: %s", printable.Plural(c.Functions-c.Tested, "function"))
	f.line(c.AsSeen, "latencies are as they were seen, with what probes cost")
	return write(w, "footer", f.Bytes())
}
