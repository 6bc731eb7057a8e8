package target

import (
	"path"
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
	// Inlinable: the compiler may have inlined calls. The function table does not have a copy of which no instruction is left, so a
	// small function without calls is Inlinable, too.
	Inlinable bool
}

// Sources returns the places of all functions that source files in Go contain. It leaves out functions that the compiler or
// the linker generated.
//
// The name of a function does not always have the package of its file: //go:linkname can give it another one, and so can the
// function into which the compiler inlined the one around a literal. So the package of a directory is that of most declared
// functions in it. Sources leaves out literals in a directory without them.
func (t *Target) Sources() map[*offsets.Func]Source {
	all, in := make(map[*offsets.Func]Source), t.Binary.Internals()
	inlined, _ := in.Inlined() // none before Go 1.12
	copies := make(map[string]bool)
	for name := range inlined {
		copies[symname.Plain(name)] = true
	}
	counts, of := make(map[[2]string]int), make(map[string]string) // functions by directory and package; packages by directory
	funcs := t.Binary.Funcs()
	for i := range funcs {
		f, name := &funcs[i], symname.Split(funcs[i].Name)
		file, first, last, ok := in.Extent(f.Addr)
		dir, base := path.Split(file)
		if !ok || name.Package == "" || !strings.HasSuffix(base, ".go") || strings.HasPrefix(base, "_cgo_") {
			continue
		}
		key := [2]string{dir, name.Package}
		if name.Nesting() == 0 {
			counts[key]++
		}
		if counts[key] > counts[[2]string{dir, of[dir]}] {
			of[dir] = name.Package
		}
		if !name.Generated() && !t.isWrapper(f) {
			plain := symname.Plain(f.Name)
			all[f] = Source{plain, file, first, last, name.Nesting(), copies[plain] || in.MayBeInlined(f)}
		}
	}
	for f, s := range all {
		dir, base := path.Split(s.File)
		switch main := in.MainPath(); {
		case of[dir] == "":
			delete(all, f)
			continue
		case of[dir] != "main":
			s.File = of[dir] + "/" + base
		case main != "" && main != "command-line-arguments": // which stands for single files
			s.File = main + "/" + base
		}
		all[f] = s
	}
	return all
}
