package target

import (
	"os"
	"syscall"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// open parses the arguments and opens the binary, which the caller closes.
func (q *Query) open(say Say) (*Target, error) {
	if err := q.ReadLists(); err != nil {
		q.Opened.Close() // may be nil
		return nil, err
	}
	mapped, err := q.findBinary()
	if err != nil {
		return nil, err
	}
	t, err := q.parse()
	if err != nil {
		mapped.Close() // may be nil
		return nil, err
	}
	if t.Binary, err = openFound(q.Binary, mapped, nil); err != nil {
		return nil, err
	}
	if err := t.load(say, q); err != nil {
		t.Binary.Close()
		return nil, err
	}
	return t, nil
}

// load reads symbols and debug information from other files. If OwnFuncs is set and no FUNC is given, it also sets the
// patterns.
func (t *Target) load(say Say, q *Query) error {
	t.Binary.File().Progress = q.Loading
	if q.Symbols == "" {
		findDebugInfo(t.Binary, say, q.Loading, "/", maxFindTime)
	} else {
		f, err := os.OpenFile(q.Symbols, os.O_RDONLY|syscall.O_NONBLOCK, 0) // returns at once for a named pipe
		if err == nil {
			err = t.Binary.Internals().Describe(f, q.Symbols)
		}
		if err != nil {
			return err
		}
	}
	if !t.Binary.Internals().KnownLayout() {
		_, version := t.Binary.GoVersion()
		say("%s: ftgo does not know the layout of types and inlined calls in %s: it does not show values in interfaces, "+
			"and, without debug information, neither other values nor functions that were inlined", q.Binary, version)
	}
	if !q.OwnFuncs || len(q.Funcs) > 0 {
		return nil
	}
	t.ownFuncs = true
	for _, text := range OwnFuncs(t.Binary) {
		if err := t.parse(text, false, false); err != nil {
			return err
		}
	}
	if len(t.include) == 0 {
		return nothingf("%s: no functions of its own are known; name some ('*' is all)", q.Binary)
	}
	return nil
}

// Check returns an error if a FUNC or a pattern is wrong whatever BINARY is. It does not open BINARY.
func (q *Query) Check() error {
	if err := q.ReadLists(); err != nil {
		return err
	}
	_, err := q.parse()
	return err
}

// parse parses FUNC... and the patterns of functions to leave out.
func (q *Query) parse() (*Target, error) {
	t := &Target{Roles: make(map[*offsets.Func]Role), specOf: make(map[*offsets.Func]*funcSpec)}
	for _, text := range q.Funcs {
		if err := q.located(text, t.parse(text, q.Regexp, q.Signatures)); err != nil {
			return nil, err
		}
	}
	for _, text := range q.Exclude {
		p, err := compile(text, q.Regexp)
		if err != nil {
			return nil, err
		}
		t.exclude = append(t.exclude, p)
	}
	return t, nil
}

// parse parses a FUNC. If signatures is false, it returns an error if the FUNC lists parameters.
func (t *Target) parse(text string, regexp, signatures bool) error {
	var spec *funcSpec
	pattern := text
	if !regexp {
		s, isSite, err := parseSite(text)
		if err != nil {
			return usagef("%w", err)
		}
		if isSite {
			t.sites = append(t.sites, s)
			return nil
		}
		g, ok, err := parseSpec(text)
		switch {
		case err != nil && signatures:
			return usagef("%w", err)
		case ok && !signatures:
			return usagef("%q: only trace shows values", text)
		case ok:
			spec, pattern = &g, g.pattern
		}
	}
	p, err := compile(pattern, regexp)
	t.include, t.texts, t.specs = append(t.include, p), append(t.texts, text), append(t.specs, spec)
	return err
}

func compile(text string, regexp bool) (symname.Pattern, error) {
	p, err := symname.Compile(text, regexp)
	if err != nil {
		err = usagef("%w", err)
	}
	return p, err
}
