package target

import (
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// Variables returns the names of package variables. The variables of the program's own module come first, and own is their
// number. If a program is not written in Go, all variables belong to its own module.
func Variables(b *offsets.Binary) (names []string, own int, err error) {
	all, err := b.Internals().StaticVariables()
	minor, _ := b.GoVersion()
	var others []string
	for _, name := range all {
		if minor > 0 && !inOwnModule(b, symname.Split(name).Package) {
			others = append(others, name)
		} else {
			names = append(names, name)
		}
	}
	return append(names, others...), len(names), err
}

// Variables returns the package variables of the program's own module, and the number of others.
func (q *Query) Variables(say Say) (own []offsets.Variable, others int, err error) {
	t, err := q.open(say)
	if err != nil {
		return nil, 0, err
	}
	defer t.Binary.Close()
	names, n, err := Variables(t.Binary)
	if err != nil {
		return nil, 0, nothingf("%s: %w", q.Binary, err)
	}
	for _, name := range names[:n] {
		v, err := t.Binary.Internals().StaticVariable(name)
		if err != nil {
			return nil, 0, err
		}
		own = append(own, v)
	}
	return own, len(names) - n, nil
}
