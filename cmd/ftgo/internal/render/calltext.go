package render

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// appendText appends the text of a call without a newline.
func (w *CallWriter) appendText(b []byte, c *Line) []byte {
	b = w.appendTime(b, &c.Time)
	switch {
	case w.o.Template != nil:
		return w.o.Template.append(b, c)
	case c.End == "":
		b = append(w.appendThread(append(b, "> "...), &c.Thread), ' ')
	default:
		b = append(w.appendSplit(fmt.Appendf(b, "%8s", c.latency()), c), "  "...)
		b = append(w.appendThread(b, &c.Thread), "  "...)
	}
	return w.appendCall(b, 0, c, "")
}

// appendCall appends the function, the arguments, the results and a suffix to the line that begins at b[start]. It
// shortens values so that the line fits into Style.Width. If the line is still too wide with shortened values,
// appendCall cuts the end of the line, and then appends the suffix.
func (w *CallWriter) appendCall(b []byte, start int, c *Line, suffix string) []byte {
	b = append(b, w.function(c.Function)...)
	width := w.o.Width - printable.Columns(suffix)
	// room returns how many columns the next values may take. It subtracts the punctuation from the columns that are still
	// free, and returns thirds/3 of the rest, but at least 1. It returns 0 if the width has no limit.
	room := func(punctuation string, thirds int) int {
		if w.o.Width == 0 {
			return 0
		}
		return max((width-printable.Columns(string(b[start:]))-len(punctuation))*thirds/3, 1)
	}
	forArgs := room("()", 3)
	// Keep up to a third of the room free for the results: less if the results are shorter than a third.
	if c.End != "" && forArgs > 0 {
		w.results = capture.AppendResults(w.results[:0], c.End, c.Results, room("() = ()", 1))
		forArgs = max(forArgs-printable.Columns(string(w.results)), 1)
	}
	if b = capture.AppendArgs(b, c.Args, c.ArgsNote, forArgs); c.End != "" {
		b = capture.AppendResults(b, c.End, c.Results, room(" = ()", 3))
	}
	if w.o.Width > 0 {
		b = append(b[:start], printable.Cut(string(b[start:]), width)...)
	}
	return append(b, suffix...)
}

// appendTime appends a time if LineOptions.Times is set. If at is nil, it appends blanks of the same width.
func (w *CallWriter) appendTime(b []byte, at *time.Time) []byte {
	const layout = "15:04:05.000000"
	switch {
	case !w.o.Times:
		return b
	case at == nil:
		b = fmt.Appendf(b, "%*s", len(layout), "")
	default:
		b = at.AppendFormat(b, layout)
	}
	return append(b, ' ')
}

// appendThread appends the goroutine of a call, or its thread if Goid is 0. With LineOptions.Processes, the process comes
// first.
func (w *CallWriter) appendThread(b []byte, t *Thread) []byte {
	if w.o.Processes {
		b = fmt.Appendf(b, "pid %d ", t.PID)
	}
	if t.Goid == 0 {
		return fmt.Appendf(b, "thread %d", t.TID)
	}
	return fmt.Appendf(b, "goroutine %d", t.Goid)
}

// minNameWidth is the smallest limit in columns for the name of a function.
const minNameWidth = 32

// function returns the printable name of a function, from LineOptions.Short if it is there. If Style.Width is not 0, it
// limits the name to a quarter of the width, or to minNameWidth if a quarter is less.
func (w *CallWriter) function(name string) string {
	if name = printable.Text(cmp.Or(w.o.Short[name], name)); w.o.Width > 0 {
		return printable.Shorten(name, max(minNameWidth, w.o.Width/4))
	}
	return name
}

// appendSplit appends the parts of a latency if LineOptions.Sched is set: the times running, runnable and waiting. If the call
// has not returned, it appends "-" for each part. The reasons of the longest waits follow in parentheses.
func (w *CallWriter) appendSplit(b []byte, c *Line) []byte {
	if !w.o.Sched {
		return b
	}
	for _, part := range splitParts {
		text := "-"
		if c.returned() {
			text = printable.Duration(part.ns(c.Split))
		}
		b = fmt.Appendf(b, " %7s %s", text, part.short)
	}
	if c.returned() && len(c.Waits) > 0 {
		b = fmt.Appendf(b, " (%s)", reasons(c.Waits))
	}
	return b
}

// splitMembers returns the JSON members of a split latency.
func splitMembers(s stats.Split, w stats.Waits) Row {
	var waits Row
	for _, reason := range w.Reasons() {
		waits.add(reason, w[reason])
	}
	return Row{{"running", s.Running}, {"runnable", s.Runnable}, {"waiting", s.Waiting}, {"waits", ValueIf(waits != nil, waits)}}
}

// reasons returns the reasons of the two longest waits. If there are more reasons, it adds an ellipsis.
func reasons(w stats.Waits) string {
	names := w.Reasons()
	if len(names) > 2 {
		names = append(names[:2], "…")
	}
	return printable.Text(strings.Join(names, ", "))
}

// CallFormat is a template for the text of a call, with a list of names. Like the format of printf, the template contains
// verbs. Each verb writes the value that the name at the verb's place in the list selects.
//
// A verb is %[-][0][width]letter: - aligns to the left, 0 pads integers with zeros, width is a number of columns on a
// terminal. The letters have nearly the same meaning as in package fmt:
//
//	%d  integers, in decimal; a time.Duration in ns
//	%x  integers, addresses and the bytes of strings, in hexadecimal
//	%t  bools
//	%q  strings, or the text of other values, quoted
//	%s  strings, and the messages of errors, without quotes but escaped, see [printable.Text]
//	%v  any value as [capture.Value.Text]
//	%%  a percent sign
//
// If a value does not suit its verb, the verb writes the value as %v does. A verb writes an interface as it writes the
// interface's dynamic value.
//
// A name is the name of an argument or a result, or a path that begins with this name: p.f, p[3], *p, len(p), cap(p). If
// the call has no such value, the name selects a property of the call: func, goid, pid, tid, cpu, depth, ns (the latency as
// a number), latency (with a unit) or time. If the call has no such property either, the verb writes <no NAME>. A call that
// did not return has neither results nor a latency: the verb then writes <unwound>, <open> or <lost> instead of <no NAME>.
type CallFormat struct {
	pieces []formatPiece
	end    string // the text after the last verb
}

// formatPiece is a verb and the text before it.
type formatPiece struct {
	text string
	verb capture.Verb
	name string // the whole name, like len(p)
	part capture.Part
	path string // the path without the part, like p
}

// maxFormatWidth limits the width of a verb. It is wider than any terminal.
const maxFormatWidth = 1000

// formatVerb matches a percent sign, flags, a width and a letter. If the template ends before the letter, the
// letter is empty, and parseVerb returns an error.
var formatVerb = regexp.MustCompile(`(?s)%([-0]*)([0-9]*)(.?)`)

// ParseCallFormat parses a template. names contains a name for each verb except %%, in the order of the verbs.
func ParseCallFormat(template string, names []string) (f *CallFormat, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("parse format %q: %w", template, err)
		}
	}()
	f = &CallFormat{}
	verbs := formatVerb.FindAllStringSubmatch(template, -1)
	for i, text := range formatVerb.Split(template, -1) {
		f.end += text
		switch {
		case i == len(verbs):
		case verbs[i][0] == "%%":
			f.end += "%"
		default:
			verb, err := parseVerb(verbs[i])
			if err != nil {
				return nil, err
			}
			f.pieces = append(f.pieces, formatPiece{text: f.end, verb: verb})
			f.end = ""
		}
	}
	if len(f.pieces) != len(names) {
		return nil, fmt.Errorf("%s for %s", printable.Plural(len(names), "name"), printable.Plural(len(f.pieces), "verb"))
	}
	for i, name := range names {
		p := &f.pieces[i]
		p.name = strings.TrimSpace(name)
		p.part, p.path = capture.CutPart(p.name)
		if _, err = capture.ParsePath(p.path); err != nil {
			return nil, fmt.Errorf("name %q: %w", name, err)
		}
	}
	return f, nil
}

// parseVerb parses a match of formatVerb.
func parseVerb(match []string) (v capture.Verb, err error) {
	spec, flags, width, letter := match[0], match[1], match[2], match[3]
	if v.Width, err = strconv.Atoi("0" + width); err != nil || v.Width > maxFormatWidth {
		return v, fmt.Errorf("%q is more than %d", width, maxFormatWidth)
	}
	switch {
	case letter == "":
		return v, fmt.Errorf("%q has no verb", spec)
	case !strings.Contains("dxqstv", letter):
		return v, fmt.Errorf("unknown verb %q (known are %%d %%x %%q %%s %%t %%v %%%%)", spec)
	}
	v.Spec, v.Letter, v.Left = spec, letter[0], strings.Contains(flags, "-")
	return v, nil
}

// append appends a call in the format.
func (f *CallFormat) append(b []byte, c *Line) []byte {
	for i := range f.pieces {
		p := &f.pieces[i]
		b = append(b, p.text...)
		var text string
		v := cmp.Or(capture.Find(c.Args, p.part, p.path), capture.Find(c.Results, p.part, p.path))
		if v == nil {
			v, text = c.property(p.name)
		}
		switch {
		case v != nil:
			b = p.verb.AppendValue(b, v)
		case p.verb.Letter == 'q':
			b = p.verb.AppendPadded(b, strconv.Quote(text))
		default:
			b = p.verb.AppendPadded(b, printable.Text(text))
		}
	}
	return append(b, f.end...)
}

// Properties are the types of the properties of a call by their names in expressions and in --format: its numbers, func (the
// name of the function) and err (the last result). latency and ns are durations in nanoseconds.
var Properties = map[string]*gotype.Type{"func": basic("string"), "err": basic("error")}

// callNumbers are the numbers of a call by their names. latency and ns are known only if the call returned.
var callNumbers = map[string]func(*Line) uint64{
	"latency": func(l *Line) uint64 { return uint64(l.NS) },
	"ns":      func(l *Line) uint64 { return uint64(l.NS) },
	"goid":    func(l *Line) uint64 { return l.Goid },
	"pid":     func(l *Line) uint64 { return uint64(l.PID) },
	"tid":     func(l *Line) uint64 { return uint64(l.TID) },
	"cpu":     func(l *Line) uint64 { return uint64(l.CPU) },
	"depth":   func(l *Line) uint64 { return uint64(l.Depth) },
}

func init() {
	for name := range callNumbers {
		Properties[name] = basic("int64")
	}
}

func basic(name string) *gotype.Type {
	t, _ := gotype.Basic(name)
	return t
}

// Value returns the value that a path of an expression leads to, nil if it is unknown. A variable takes precedence over a
// property with its name.
func (c *Line) Value(path string) *capture.Value {
	if v := cmp.Or(capture.Find(c.HiddenArgs, capture.Whole, path), capture.Find(c.HiddenResults, capture.Whole, path)); v != nil {
		return v
	}
	switch {
	case path == "func":
		return &capture.Value{Type: Properties[path], Bytes: []byte(c.Function), Len: int64(len(c.Function))}
	case path == "err" && c.ErrorName != "":
		return capture.Find(c.HiddenResults, capture.Whole, c.ErrorName)
	case path == "err":
		return &capture.Value{Type: Properties[path]} // nil: the function does not return an error
	}
	return c.number(path)
}

// number returns the number of the call with a name, nil if there is none, or if it is unknown.
func (c *Line) number(name string) *capture.Value {
	number := callNumbers[name]
	if number == nil || !c.returned() && (name == "ns" || name == "latency") {
		return nil
	}
	return &capture.Value{Type: Properties[name], Num: number(c)}
}

// property returns the property of the call that a name in --format selects. If the property is a number, it returns the
// number in v. If it is a text, v is nil. If it is not known, v is an unknown value with the reason.
func (c *Line) property(name string) (v *capture.Value, text string) {
	number := c.number(name)
	switch {
	case name == "func":
		return nil, c.Function
	case name == "time":
		return nil, c.Time.Format(time.RFC3339Nano)
	case name == "latency" && number != nil:
		return nil, printable.Duration(c.NS)
	case number != nil:
		return number, ""
	case !c.returned() && c.End != "":
		return capture.Unknown(capture.Unfetched, c.End), ""
	}
	return capture.Unknown(capture.Unfetched, "no "+name), ""
}
