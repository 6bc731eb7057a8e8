package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
// *p, len(p), cap(p). If the call has none, the names func, goid, pid, tid, ns (a number), latency (the
// same for people) and time are of the call itself. For a name that a call does not
// have, <no NAME> is written, or if it did not return, <unwound>, <open> or <lost>.
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

// ParseCallFormat reads a template and the names of what its verbs stand for.
func ParseCallFormat(template string, names []string) (*CallFormat, error) {
	fail := func(format string, args ...any) (*CallFormat, error) {
		return nil, fmt.Errorf("parse format %q: %w", template, fmt.Errorf(format, args...))
	}
	t := &CallFormat{}
	var text strings.Builder
	for rest := template; ; {
		before, verb, found := strings.Cut(rest, "%")
		text.WriteString(before)
		if !found {
			break
		}
		if after, percent := strings.CutPrefix(verb, "%"); percent {
			text.WriteByte('%')
			rest = after
			continue
		}
		p, size, err := parseVerb(verb)
		if err != nil {
			return fail("%w", err)
		}
		p.text = text.String()
		text.Reset()
		t.pieces = append(t.pieces, p)
		rest = verb[size:]
	}
	t.end = text.String()
	if len(t.pieces) != len(names) {
		return fail("%s for %s", units.Plural(uint64(len(names)), "name"), units.Plural(uint64(len(t.pieces)), "verb"))
	}
	for i, name := range names {
		var err error
		if t.pieces[i].path, err = valuetext.ParsePath(strings.TrimSpace(name)); err != nil {
			return fail("name %q: %w", name, err)
		}
	}
	return t, nil
}

// parseVerb reads what follows a percent sign.
func parseVerb(s string) (p formatPiece, size int, err error) {
	number := func() (n int, err error) {
		start := size
		for size < len(s) && '0' <= s[size] && s[size] <= '9' {
			size++
		}
		if start == size {
			return 0, nil
		}
		if n, err = strconv.Atoi(s[start:size]); err != nil || n > maxFormatWidth {
			return 0, fmt.Errorf("%q is more than %d", s[start:size], maxFormatWidth)
		}
		return n, nil
	}
	for ; size < len(s) && (s[size] == '-' || s[size] == '0'); size++ {
		p.verb.Left = p.verb.Left || s[size] == '-'
	}
	if p.verb.Width, err = number(); err != nil {
		return p, 0, err
	}
	digits := size < len(s) && s[size] == '.'
	if digits {
		size++
		if _, err = number(); err != nil {
			return p, 0, err
		}
	}
	switch {
	case size == len(s):
		return p, 0, fmt.Errorf("%q has no verb", "%"+s)
	case !strings.Contains("dxfqstv", s[size:size+1]):
		_, n := utf8.DecodeRuneInString(s[size:])
		return p, 0, fmt.Errorf("unknown verb %q (known are %%d %%x %%f %%q %%s %%t %%v %%%%)", "%"+s[:size+n])
	case digits && s[size] != 'f':
		return p, 0, fmt.Errorf("%q: only %%f has digits behind a point", "%"+s[:size+1])
	}
	p.verb.Letter = s[size]
	size++
	p.verb.Spec = "%" + s[:size]
	return p, size, nil
}

// find returns what a piece shows: a value, or text about the call.
func (p *formatPiece) find(c *CallLine) (v *capture.Value, text string) {
	for _, values := range [...][]capture.Value{c.Args, c.Results} {
		if v := p.path.Find(values); v != nil {
			return v, ""
		}
	}
	return builtIn(c, p.path.Text())
}

// append writes a call.
func (f *CallFormat) append(b []byte, c *CallLine) []byte {
	for i := range f.pieces {
		p := &f.pieces[i]
		b = append(b, p.text...)
		v, text := p.find(c)
		if v == nil {
			if p.verb.Letter == 'q' {
				text = strconv.Quote(text)
			} else {
				text = printable.Text(text)
			}
			b = p.verb.AppendPadded(b, text)
			continue
		}
		b = p.verb.AppendValue(b, v)
	}
	return append(b, f.end...)
}

var uint64Type, _ = gotype.Basic("uint64")

// builtIn returns what is known of the call itself under a name.
func builtIn(c *CallLine, name string) (v *capture.Value, text string) {
	number := func(n uint64) (*capture.Value, string) {
		return &capture.Value{Type: uint64Type, Num: n}, ""
	}
	switch name {
	case "func":
		return nil, c.Function
	case "goid":
		return number(c.Goid)
	case "pid":
		return number(uint64(c.PID))
	case "tid":
		return number(uint64(c.TID))
	case "time":
		return nil, c.Time.Format(time.RFC3339Nano)
	case "ns", "latency":
		if c.End != "return" {
			break
		}
		if name == "ns" {
			return number(uint64(c.NS))
		}
		return nil, units.Duration(c.NS)
	}
	if c.End != "return" && c.End != "" {
		return valuetext.Missing(capture.Unfetched, c.End), ""
	}
	return valuetext.Missing(capture.Unfetched, "no "+name), ""
}
