package target

import (
	"debug/elf"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// BoundaryFuncs are functions of the standard library through which a program reaches the network, databases, files and
// other programs.
var BoundaryFuncs = []string{
	"net/http.serverHandler.ServeHTTP", "net/http.(*Client).do", "net/http.(*Transport).roundTrip", "net/rpc.(*Client).Call",
	"database/sql.(*DB).query", "database/sql.(*DB).exec", "net.(*Dialer).DialContext", "net.(*Resolver).lookupIPAddr",
	"os.OpenFile", "os/exec.(*Cmd).Start", "crypto/tls.(*Conn).HandshakeContext",
}

// fewFuncs is the number of functions below which a program's own module probably only calls other modules.
const fewFuncs = 100

// OwnFuncs returns patterns of the functions to look at first in an unknown program: the functions of its own module. Some
// patterns match nothing. If its own module contains fewer than fewFuncs functions, OwnFuncs adds the functions of other modules.
func OwnFuncs(b *offsets.Binary) (patterns []string) {
	funcs := b.Funcs()
	own := 0
	roots := make(map[string]bool) // first path elements of other modules
	for i := range funcs {
		path := symname.Split(funcs[i].Name).Package
		first, _, nested := strings.Cut(path, "/")
		switch {
		case inOwnModule(b, path):
			own++
		case nested && strings.Contains(first, "."):
			roots[first] = true
		}
	}
	if module := b.Internals().Module(); module != "" {
		patterns = append(patterns, module+".*", module+"/*")
	}
	if own < fewFuncs {
		for _, first := range slices.Sorted(maps.Keys(roots)) {
			patterns = append(patterns, first+"/*")
		}
	}
	return append([]string{"main.*"}, patterns...)
}

// inOwnModule reports whether a package belongs to the program's own module.
func inOwnModule(b *offsets.Binary, path string) bool {
	module := b.Internals().Module()
	return path == "main" || module != "" && (path == module || strings.HasPrefix(path, module+"/"))
}

// SortByInterest sorts the functions: first the functions that were named, then the functions of the program's own
// module, then the others.
func (t *Target) SortByInterest() {
	rank := func(f *offsets.Func) int {
		switch {
		case t.Roles[f].Named:
			return 0
		case inOwnModule(t.Binary, symname.Split(f.Name).Package):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(t.Funcs, func(a, b *offsets.Func) int { return rank(a) - rank(b) })
}

// GoProcesses calls yield with each process of a Go program and the path of the program's file. It leaves out this
// process.
func GoProcesses(yield func(pid int, exe string) bool) {
	for _, p := range procfs.RunningPrograms() {
		if p.PID != os.Getpid() && isGo(procfs.Exe(p.PID)) && !yield(p.PID, p.Path) {
			return
		}
	}
}

// isGo reports whether Go's linker made a file. It looks at the names of the file's sections.
func isGo(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") })
}

// Variables returns the package variables of the program's own module. If a program is not written in Go, all variables
// belong to its own module.
func (q *Query) Variables(say Say) (own []offsets.Variable, err error) {
	t, err := q.open(say)
	if err != nil {
		return nil, err
	}
	defer t.Binary.Close()
	names, err := t.Binary.Internals().StaticVariables()
	if err != nil {
		return nil, nothingf("%s: %w", q.Binary, err)
	}
	minor, _ := t.Binary.GoVersion()
	for _, name := range names {
		if minor > 0 && !inOwnModule(t.Binary, symname.Split(name).Package) {
			continue
		}
		v, err := t.Binary.Internals().StaticVariable(name)
		if err != nil {
			return nil, err
		}
		own = append(own, v)
	}
	if len(own) == 0 {
		return nil, nothingf("%s: it has no variables of its own", q.Binary)
	}
	return own, nil
}
