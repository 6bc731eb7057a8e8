package target

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// Source is the place of a function in the source, in the terms of Go's cover profiles.
type Source struct {
	Name string // without type arguments, as [symname.Plain] spells it
	// File is the import path of the package and the name of the file, or a path if package main has no import path.
	File string
	// First is the line of the keyword func, and Last the last line that is known to belong to the function.
	First, Last int
	Nesting     int // the number of function literals around the code: 0 for a declared function
}

// Sources returns the places of all functions that source files in Go contain. It leaves out functions that the compiler or
// the linker generated.
//
// The name of a function does not always have the package of its file: //go:linkname can give it another one. So the package of a
// directory is that of most functions in it.
func (t *Target) Sources() map[*offsets.Func]Source {
	all := make(map[*offsets.Func]Source)
	packages := make(map[string]map[string]int) // the number of functions by directory and package
	funcs := t.Binary.Funcs()
	for i := range funcs {
		f := &funcs[i]
		name := symname.Split(f.Name)
		file, first, last, ok := t.Binary.Internals().Extent(f.Addr)
		base := path.Base(file)
		if !ok || name.Package == "" || !strings.HasSuffix(base, ".go") || strings.HasPrefix(base, "_cgo_") {
			continue
		}
		dir := path.Dir(file)
		if packages[dir] == nil {
			packages[dir] = make(map[string]int)
		}
		packages[dir][name.Package]++
		if !name.Generated() && !t.isWrapper(f) {
			all[f] = Source{symname.Plain(f.Name), file, first, last, name.Nesting()}
		}
	}
	of := make(map[string]string) // the package by directory
	for dir, counts := range packages {
		for pkg, n := range counts {
			if best := counts[of[dir]]; n > best || n == best && pkg < of[dir] {
				of[dir] = pkg
			}
		}
		if of[dir] == "main" {
			// The go command calls packages of single files so.
			if of[dir] = t.Binary.Internals().MainPath(); of[dir] == "" || of[dir] == "command-line-arguments" {
				of[dir] = filepath.Clean(dir)
			}
		}
	}
	for f, s := range all {
		s.File = of[path.Dir(s.File)] + "/" + path.Base(s.File)
		all[f] = s
	}
	return all
}

// Inlinable returns a func that reports whether the compiler may have inlined calls of a function. The function table does not
// have a copy of which no instruction is left, so a small function without calls counts as inlined, too.
func (t *Target) Inlinable() func(f *offsets.Func) bool {
	in := t.Binary.Internals()
	if in.NotInlined() {
		return func(*offsets.Func) bool { return false }
	}
	copies := make(map[string]bool)
	inlined, _ := in.Inlined() // none before Go 1.12
	for name := range inlined {
		copies[symname.Plain(name)] = true
	}
	return func(f *offsets.Func) bool { return copies[symname.Plain(f.Name)] || in.SmallLeaf(f) }
}
