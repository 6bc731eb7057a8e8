package target

import (
	"strings"

	"github.com/ftgo/ftgo/internal/given"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
)

// Arg is one FUNC, parsed but not looked up.
type Arg struct {
	// site is set if FUNC means single instructions, and pattern is not.
	site    *site
	pattern symname.Pattern
	// given is what FUNC says of the parameters, nil if it says nothing.
	given *given.Functions
}

// ParseFunc parses one FUNC. signatures allows it to say what the function's parameters are.
func ParseFunc(text string, regexp, signatures bool) (arg Arg, err error) {
	pattern := text
	if !regexp {
		s, isSite, err := parseSite(text)
		if err != nil {
			return arg, usage(err)
		}
		if isSite {
			return Arg{site: &s}, nil
		}
		said, says, err := given.Parse(text)
		switch {
		case err != nil && signatures:
			return arg, usage(err)
		case says && !signatures:
			return arg, usagef("%q: only trace shows values", text)
		case says:
			arg.given, pattern = &said, said.Pattern
		}
	}
	arg.pattern, err = compile(pattern, regexp)
	return arg, err
}

func compile(text string, regexp bool) (symname.Pattern, error) {
	read := symname.Glob
	if regexp {
		read = symname.Regexp
	}
	p, err := read(text)
	if err != nil {
		return p, usage(err)
	}
	return p, nil
}

// isName tells whether a glob has no wildcards. A star is none in the name of a function.
func (a Arg) isName(b *offsets.Binary) bool {
	text := a.pattern.String()
	_, exact := b.Lookup(text)
	return exact || !strings.ContainsAny(text, "*?")
}
