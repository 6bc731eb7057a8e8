package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/internal/printable"
)

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

// Compared is a whole comparison.
type Compared struct {
	Sides     [2][]*compare.Run
	Functions []compare.Function
	Alpha     float64
	AsSeen    bool // latencies have in them what probes cost
}

// TooFew tells whether nothing is known of how much runs of one side differ by themselves.
func (c *Compared) TooFew() bool { return len(c.Sides[0]) == 1 && len(c.Sides[1]) == 1 }

// Numbers are how many functions there was enough to tell of, and how many have changed.
func (c *Compared) Numbers() (tested, changed int) {
	for i := range c.Functions {
		if c.Functions[i].Tested {
			tested++
		}
		if c.Functions[i].Changed {
			changed++
		}
	}
	return tested, changed
}

// sideOf is what the runs of a side are together: on so many hosts, of so many seconds one after the other, with
// so many events lost.
func sideOf(runs []*compare.Run) (hosts int, seconds float64, lost uint64) {
	known := make(map[string]bool)
	for _, r := range runs {
		known[r.Host] = true
		seconds += r.Seconds
		lost += r.Lost
	}
	return len(known), seconds, lost
}

// ComparedJSON writes the object that ends a comparison.
func ComparedJSON(w io.Writer, c Compared) error {
	side := func(runs []*compare.Run) object {
		hosts, seconds, lost := sideOf(runs)
		return object{{"runs", len(runs)}, {"hosts", hosts}, {"seconds", seconds}, {"lost", lost}}
	}
	tested, changed := c.Numbers()
	return write(w, "json", object{
		{"type", "comparison"}, {"old", side(c.Sides[0])}, {"new", side(c.Sides[1])}, {"functions", len(c.Functions)}, {"tested", tested},
		{"changed", changed}, {"alpha", c.Alpha}, {"as_seen", c.AsSeen},
	}.append(nil, JSON))
}

// ComparedFooter writes the same, meant for stderr.
func ComparedFooter(w io.Writer, c Compared) error {
	var f footer
	tested, changed := c.Numbers()
	f.line(!c.TooFew(), "%d of %s changed: of those that did not, at most %.4g%% are called so", changed, printable.Plural(len(c.Functions), "function"), 100*c.Alpha)
	for i, name := range [...]string{"old", "new"} {
		hosts, seconds, lost := sideOf(c.Sides[i])
		f.line(true, "%s: %s on %s, %s together", name, printable.Plural(len(c.Sides[i]), "run"), printable.Plural(hosts, "host"), printable.Duration(int64(seconds*1e9)))
		f.line(lost > 0, "%s lost %s: latencies speak for the other calls only", name, printable.Plural(lost, "event"))
	}
	f.line(tested < len(c.Functions), "too few calls to tell: %s", printable.Plural(len(c.Functions)-tested, "function"))
	f.line(c.AsSeen, "latencies are as they were seen, with what probes cost")
	return write(w, "footer", f.Bytes())
}
