package target

import (
	"cmp"
	"maps"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// wanted is a parsed query, before its functions are looked up.
type wanted struct {
	binary           *offsets.Binary
	sites            []site
	include, exclude []symname.Pattern
	// given has what the arguments of include say of parameters, nil where they say nothing.
	given []*funcSpec
	// isWrapper has the chosen functions that are wrappers.
	isWrapper map[*offsets.Func]bool
	own       bool // no function was named, and OwnFuncs selects
}

// open parses the arguments and opens the binary, which the caller closes.
func (q *Query) open(say Say) (*wanted, error) {
	if err := q.ReadLists(); err != nil {
		q.Opened.Close() // may be nil
		return nil, err
	}
	mapped, err := q.findBinary()
	if err != nil {
		return nil, err
	}
	w, err := q.parse()
	if err != nil {
		mapped.Close() // may be nil
		return nil, err
	}
	if w.binary, err = openFound(q.Binary, mapped, nil); err == nil {
		w.binary.File().Progress = q.Loading
		err = q.describe(say, w.binary)
	}
	if err == nil && !w.binary.Internals().KnownLayout() {
		_, version := w.binary.GoVersion()
		say("%s: ftgo does not know where %s keeps types and inlined calls: it does not show what interfaces hold, "+
			"and, without debug information, neither other values nor functions that were inlined", q.Binary, version)
	}
	if err == nil && q.OwnFuncs && len(q.Funcs) == 0 {
		for _, text := range OwnFuncs(w.binary) {
			err = cmp.Or(err, w.parse(text, false, false))
		}
		if w.own = true; len(w.include) == 0 {
			err = nothingf("%s: no functions of its own are known; name some ('*' is all)", q.Binary)
		}
	}
	return w, err
}

// Check returns an error if FUNC or a pattern is wrong for any BINARY.
func (q *Query) Check() error {
	if err := q.ReadLists(); err != nil {
		return err
	}
	_, err := q.parse()
	return err
}

// parse parses FUNC... and the patterns of functions to leave out.
func (q *Query) parse() (*wanted, error) {
	w := &wanted{}
	q.lists = maps.Clone(q.lists) // other queries may share it
	for _, text := range q.Funcs {
		before := len(w.include)
		if err := q.located(text, w.parse(text, q.Regexp, q.Signatures)); err != nil {
			return nil, err
		}
		if at := q.lists[text]; at != "" && len(w.include) > before {
			q.lists[w.include[before].String()] = at // the pattern lacks what FUNC says of parameters
		}
	}
	for _, text := range q.Exclude {
		p, err := compile(text, q.Regexp)
		if err != nil {
			return nil, err
		}
		w.exclude = append(w.exclude, p)
	}
	return w, nil
}

// parse parses one FUNC. signatures allows it to say what the function's parameters are.
func (w *wanted) parse(text string, regexp, signatures bool) error {
	var says *funcSpec
	if !regexp {
		s, isSite, err := parseSite(text)
		if err != nil {
			return usagef("%w", err)
		}
		if isSite {
			w.sites = append(w.sites, s)
			return nil
		}
		g, ok, err := parseSpec(text)
		switch {
		case err != nil && signatures:
			return usagef("%w", err)
		case ok && !signatures:
			return usagef("%q: only trace shows values", text)
		case ok:
			says, text = &g, g.pattern
		}
	}
	p, err := compile(text, regexp)
	w.include, w.given = append(w.include, p), append(w.given, says)
	return err
}

func compile(text string, regexp bool) (symname.Pattern, error) {
	p, err := symname.Compile(text, regexp)
	if err != nil {
		err = usagef("%w", err)
	}
	return p, err
}
