// Package gotab reads what Go's toolchain puts into a program for its own runtime: the table
// of functions, where their source lines, inlined calls and arguments are, the types of values
// in interfaces, and the version of Go. No stripping removes any of it.
package gotab

import (
	"sync"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Tables are those of one program.
type Tables struct {
	image *image.Image
	// Version is that of the Go that built the program; its Minor is 0 if none did.
	Version Version

	opened *table        // perhaps in pieces; until Close
	whole  func() *table // all of it, nil if there is none; to be copied, since reading marks damage in it
	module func() module
	types  func() (*types, error)
}

// Open finds the function table and the version of Go; without either there is nothing to
// read.
func Open(m *image.Image) (g *Tables, err error) {
	g = &Tables{image: m, opened: findTable(m)}
	if g.Version, err = readVersion(m, g.opened); err != nil {
		return nil, err
	}
	g.whole = sync.OnceValue(func() *table {
		if t := findTable(m); t != nil && g.Version.Minor > 0 && t.load() && t.sorted() {
			return t
		}
		return nil
	})
	g.module = sync.OnceValue(func() (found module) {
		if t := findTable(m); t != nil {
			found, _ = t.findModule(m)
		}
		return found
	})
	g.types = sync.OnceValues(g.findTypes)
	return g, nil
}

// Listed frees the function table, once Funcs and WithNames have been called.
func (g *Tables) Listed() { g.opened = nil }

// Any tells whether there is a function table.
func (g *Tables) Any() bool { return g.whole() != nil }

// own is a copy of the table, whose damage is nobody's; an empty one if there is none.
func (g *Tables) own() table {
	if all := g.whole(); all != nil {
		return *all
	}
	return table{}
}

// at is the function whose code is at an address.
func (g *Tables) at(addr uint64) (f function, ok bool) {
	own := g.own()
	return own.at(addr)
}

// each calls found with each function.
func (g *Tables) each(found func(f function)) {
	own := g.own()
	for i := range own.count {
		found(own.function(i))
	}
}
