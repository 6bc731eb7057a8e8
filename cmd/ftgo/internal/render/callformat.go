package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/valuetext"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// CallFormat writes calls by a template in the manner of printf.
//
// A verb is %[-][0][width][.digits]verb: with - it is aligned to the left, with 0
// numbers are filled up with zeros, width is in columns of a terminal, digits are those
// behind the point of %f. The verbs are those of Go:
//
//	%d  integers, in decimal; a time.Duration in ns
//	%x  integers, addresses and the bytes of strings, in hexadecimal
//	%f  floats and integers
//	%t  bools
//	%q  strings, quoted, and whatever else, its text quoted
//	%s  strings, and the message of errors, without quotes: with what is not printable
//	    escaped, see [printable.Text]
//	%v  everything, as [valuetext.Text] has it
//	%%  a percent sign
//
// A value that does not suit its verb is written as by %v, and an interface is taken for
// what it holds. A name is that of an argument or result, or leads into one: p.f, p[3],
// *p, len(p), cap(p). If the call has none, the names func, goid, pid, tid, ns (a number),
// latency (the same for people) and time are of the call itself. For a name that a call does
// not have, <no NAME> is written, or if it did not return, <unwound>, <open> or <lost>.
type CallFormat struct {
	pieces []formatPiece
	end    string // behind the last verb
}

// formatPiece is a verb and the text before it.
type formatPiece struct {
	text string
	verb valuetext.Verb
	path valuetext.Path
}

// maxFormatWidth is a width no terminal has.
const maxFormatWidth = 1000

// formatVerb is a percent sign with flags, width, digits behind the point, and the verb.
var formatVerb = regexp.MustCompile(`(?s)%([-0]*)([0-9]*)(\.[0-9]*)?(.?)`)

// ParseCallFormat reads a template and the names of what its verbs stand for.
func ParseCallFormat(template string, names []string) (*CallFormat, error) {
	t := &CallFormat{}
	if err := t.parse(template, names); err != nil {
		return nil, fmt.Errorf("parse format %q: %w", template, err)
	}
	return t, nil
}

func (f *CallFormat) parse(template string, names []string) error {
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
				return err
			}
			f.pieces = append(f.pieces, formatPiece{text: f.end, verb: verb})
			f.end = ""
		}
	}
	if len(f.pieces) != len(names) {
		return fmt.Errorf("%s for %s", units.Plural(len(names), "name"), units.Plural(len(f.pieces), "verb"))
	}
	for i, name := range names {
		var err error
		if f.pieces[i].path, err = valuetext.ParsePath(strings.TrimSpace(name)); err != nil {
			return fmt.Errorf("name %q: %w", name, err)
		}
	}
	return nil
}

// parseVerb takes what formatVerb matches.
func parseVerb(match []string) (v valuetext.Verb, err error) {
	spec, flags, digits, letter := match[0], match[1], match[3], match[4]
	for _, text := range [...]string{strings.TrimPrefix(digits, "."), match[2]} {
		if v.Width, err = strconv.Atoi("0" + text); err != nil || v.Width > maxFormatWidth {
			return v, fmt.Errorf("%q is more than %d", text, maxFormatWidth)
		}
	}
	switch {
	case letter == "":
		return v, fmt.Errorf("%q has no verb", spec)
	case !strings.Contains("dxfqstv", letter):
		return v, fmt.Errorf("unknown verb %q (known are %%d %%x %%f %%q %%s %%t %%v %%%%)", spec)
	case digits != "" && letter != "f":
		return v, fmt.Errorf("%q: only %%f has digits behind a point", spec)
	}
	v.Spec, v.Letter, v.Left = spec, letter[0], strings.Contains(flags, "-")
	return v, nil
}

// append writes a call.
func (f *CallFormat) append(b []byte, c *CallLine) []byte {
	for i := range f.pieces {
		p := &f.pieces[i]
		b = append(b, p.text...)
		var text string
		v := p.path.Find(c.Args)
		if v == nil {
			v = p.path.Find(c.Results)
		}
		if v == nil {
			v, text = builtIn(c, p.path.Text())
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

var uint64Type, _ = gotype.Basic("uint64")

// builtIn returns what is known of the call itself under a name.
func builtIn(c *CallLine, name string) (v *capture.Value, text string) {
	v = &capture.Value{Type: uint64Type}
	switch {
	case name == "func":
		return nil, c.Function
	case name == "time":
		return nil, c.Time.Format(time.RFC3339Nano)
	case name == "latency" && c.returned():
		return nil, units.Duration(c.NS)
	case name == "ns" && c.returned():
		v.Num = uint64(c.NS)
	case name == "goid":
		v.Num = c.Goid
	case name == "pid":
		v.Num = uint64(c.PID)
	case name == "tid":
		v.Num = uint64(c.TID)
	case !c.returned() && c.End != "":
		return valuetext.Missing(capture.Unfetched, c.End), ""
	default:
		return valuetext.Missing(capture.Unfetched, "no "+name), ""
	}
	return v, ""
}
