package target

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Pair is what Query.From and Query.To select. Target.Funcs then has one function, which stands for both: its parameters are
// those of the function of From, and its results are the parameters of the function of To.
type Pair struct {
	from, to pairEnd
	both     offsets.Signature
}

// pairEnd is one of the two functions of a pair.
type pairEnd struct {
	flag string
	funcArg
	uprobe.Probe
	sig  *offsets.Signature
	keys []string // the paths of the values in which the two functions agree
}

// parsePair parses Query.From and Query.To.
func (q *Query) parsePair() (p *Pair, err error) {
	p = &Pair{from: pairEnd{flag: "--from"}, to: pairEnd{flag: "--to"}}
	for e, text := range map[*pairEnd]string{&p.from: q.From, &p.to: q.To} {
		if e.funcArg, err = parseFunc(text, false, true); err != nil {
			return nil, err
		}
		switch {
		case e.isInstruction() || e.hasSignature || e.noResults:
			return nil, usagef("%s %q: want a function and values of its parameters, as in main.put(job.ID) or main.put(goarg1:string)", e.flag, text)
		case len(e.params) == 0:
			return nil, usagef("%s %q names no value: main.put(job.ID) would name one", e.flag, text)
		}
	}
	if n, m := len(p.from.params), len(p.to.params); n != m {
		return nil, usagef("--from names %s, and --to %s: they must agree one by one", printable.Plural(n, "value"), printable.Plural(m, "value"))
	}
	return p, nil
}

// findPair finds the functions of a pair.
func (t *Target) findPair() error {
	p := t.Pair
	for _, e := range []*pairEnd{&p.from, &p.to} {
		if err := e.find(t); err != nil {
			return err
		}
	}
	if p.from.Addr == p.to.Addr {
		return usagef("--from and --to select the same function, %s", p.from.Name)
	}
	p.both = offsets.Signature{Params: p.from.sig.Params, Captured: p.from.sig.Captured, Note: p.from.sig.Note}
	for _, v := range slices.Concat(p.to.sig.Params, p.to.sig.Captured) {
		if hasName := func(w offsets.Variable) bool { return w.Name == v.Name }; slices.ContainsFunc(slices.Concat(p.both.Params, p.both.Captured), hasName) {
			v.Name = "to_" + v.Name
			p.to.sig.Captured = append(p.to.sig.Captured, v)
		}
		p.both.Results = append(p.both.Results, v)
	}
	f := *p.from.Func
	f.Name += printable.Arrow + p.to.Name
	t.Funcs = []*offsets.Func{&f}
	t.Roles[&f] = Role{Role: uprobe.Role{Named: true}}
	return nil
}

// find finds the function of an end, its signature and its sites.
func (e *pairEnd) find(t *Target) error {
	found, err := t.findFuncs(e.pattern.String())
	if err != nil {
		return err
	}
	if written := t.dropWrappers(found); len(written) > 0 {
		found = written
	}
	if n := len(found); n > 1 {
		return usagef("%s %q selects %s, %s and %s among them: it takes one", e.flag, e.text, printable.Plural(n, "function"), found[0].Name, found[1].Name)
	}
	e.Func = found[0]
	if e.Sites, err = t.Binary.Sites(e.Func); err != nil {
		return nothingf("%s: can't be probed: %w", e.Name, err)
	}
	sig, err := e.funcArg.signature(t.Binary, e.Func)
	if err != nil {
		return &kindError{err, ErrUsage}
	}
	sig.Params, sig.Captured = slices.Clone(sig.Params), slices.Clone(sig.Captured)
	e.sig = sig
	for _, v := range e.params {
		path := v.Path
		if path == "" {
			path = v.Name
		}
		if v.Result || !AtEntry(sig, path) {
			return NoVariable(e.Func, &offsets.Signature{Params: sig.Params, Captured: sig.Captured, Untyped: sig.Untyped}, path)
		}
		e.keys = append(e.keys, path)
	}
	return nil
}

// Keys returns the number of values in which the two functions agree. They are the first of the values at each end.
func (p *Pair) Keys() int { return len(p.from.keys) }

// To returns the function that ends calls of the pair.
func (p *Pair) To() *uprobe.Probe { return &p.to.Probe }

// pairBuilders returns the builders for the two ends of the target's pair. It returns an error if their values can't be
// fetched, or can't agree because of their types.
func (t *Target) pairBuilders(limits capture.Limits, stack int, features tracefs.Features) (from, to *capture.Builder, err error) {
	limits.StrLen, limits.Items = max(limits.StrLen, capture.DefaultLimits.StrLen), 64
	builder := func(e *pairEnd, stack int) *capture.Builder {
		opt := FetchOptions(limits, t.Binary, e.Func, features)
		opt.Addresses = true
		b, _ := builders(opt, t.Binary, e.Func, e.Sites, e.sig, stack)
		return b
	}
	from, to = builder(&t.Pair.from, stack), builder(&t.Pair.to, 0)
	for i, path := range t.Pair.from.keys {
		a, err := from.Type(path)
		b, toErr := to.Type(t.Pair.to.keys[i])
		switch {
		case err != nil || toErr != nil:
			return nil, nil, usagef("%s: %w", t.Funcs[0].Name, cmp.Or(err, toErr))
		case keyKind(a) == reflect.Invalid || keyKind(b) == reflect.Invalid:
			return nil, nil, usagef("--from and --to compare whole numbers, strings and addresses, and structs and arrays of them, not %s with %s", a.Name, b.Name)
		case keyKind(a) != keyKind(b):
			return nil, nil, usagef("%s of --from and %s of --to never agree: the types are %s and %s", path, t.Pair.to.keys[i], a.Name, b.Name)
		}
	}
	return from, to, nil
}

// keyKind returns the kind of a value's key: values of different kinds never agree. See [capture.Value.AppendKey].
func keyKind(t *gotype.Type) reflect.Kind {
	switch t.Kind {
	case reflect.String, reflect.Array, reflect.Struct:
		return t.Kind
	case reflect.Slice:
		if capture.IsByteSlice(t) {
			return reflect.String
		}
		return reflect.Invalid
	case reflect.Interface, reflect.Float64, reflect.Complex128, reflect.Invalid:
		return reflect.Invalid
	}
	return reflect.Uint
}
