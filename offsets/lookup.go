package offsets

import (
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
	for known, i := range b.names {
		if known == name {
			return i
		}
	}
	return -1
}

func (b *Binary) indexNames() {
	byName := make(map[string]int, len(b.funcs))
	for name, i := range b.names {
		if _, taken := byName[name]; !taken {
			byName[name] = i
		}
	}
	b.lookup.byName = byName
}

// names goes through the names of all functions, and then through their aliases.
func (b *Binary) names(yield func(name string, i int) bool) {
	for i := range b.funcs {
		if !yield(b.funcs[i].Name, i) {
			return
		}
	}
	for i := range b.funcs {
		for _, alias := range b.funcs[i].aliases {
			if !yield(alias, i) {
				return
			}
		}
	}
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
