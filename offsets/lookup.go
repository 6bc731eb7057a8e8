package offsets

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/offsets/symname"
)

// funcIndex finds functions by name. A map of all names is worth its while only for who
// asks for many.
type funcIndex struct {
	asked  atomic.Int32
	once   sync.Once
	byName map[string]int // into Binary.funcs
}

// fewLookups are answered by going through all names: 100,000 take less than a
// millisecond, a map of them some 50.
const fewLookups = 16

// Lookup finds a function by its exact name, or by an alias that is not the name of
// another one.
func (b *Binary) Lookup(name string) (*Func, bool) {
	var i int
	if x := &b.lookup; x.asked.Add(1) <= fewLookups {
		i = b.search(name)
	} else {
		x.asked.Store(fewLookups)
		x.once.Do(b.indexNames)
		var ok bool
		if i, ok = x.byName[name]; !ok {
			i = -1
		}
	}
	if i < 0 {
		return nil, false
	}
	return &b.funcs[i], true
}

// search is the number of the function of that name, -1 if there is none.
func (b *Binary) search(name string) int {
	alias := -1
	for i := range b.funcs {
		f := &b.funcs[i]
		if f.Name == name {
			return i
		}
		if alias < 0 && len(f.aliases) > 0 && slices.Contains(f.aliases, name) {
			alias = i
		}
	}
	return alias
}

func (b *Binary) indexNames() {
	byName := make(map[string]int, len(b.funcs))
	for i := range b.funcs {
		if _, twice := byName[b.funcs[i].Name]; !twice {
			byName[b.funcs[i].Name] = i
		}
	}
	for i := range b.funcs {
		for _, alias := range b.funcs[i].aliases {
			if _, taken := byName[alias]; !taken {
				byName[alias] = i
			}
		}
	}
	b.lookup.byName = byName
}

// demangle spells the names of functions that are not of Go's own toolchain, and adds the
// linker's symbols to their aliases.
func demangle(funcs []Func) {
	names := make([]string, len(funcs))
	for i := range funcs {
		names[i] = funcs[i].Name
	}
	for i, name := range symname.Demangle(names...) {
		f := &funcs[i]
		for _, alias := range f.aliases {
			if short := symname.Demangle(alias)[0]; short != alias {
				f.aliases = append(f.aliases, short)
			}
		}
		if f.Name != name {
			f.aliases = append(f.aliases, f.Name)
			f.Name = name
		}
	}
}
