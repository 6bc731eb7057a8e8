package target

import (
	"debug/elf"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// doors are functions of the standard library that a program meets others through.
var doors = []string{
	"net/http.serverHandler.ServeHTTP", "net/http.(*Client).do", "net/http.(*Transport).roundTrip", "net/rpc.(*Client).Call",
	"database/sql.(*DB).query", "database/sql.(*DB).exec", "net.(*Dialer).DialContext", "net.(*Resolver).lookupIPAddr",
	"os.OpenFile", "os/exec.(*Cmd).Start", "crypto/tls.(*Conn).HandshakeContext",
}

// fewFuncs are too few to be all that a program has of its own: its module is but a frame for others.
const fewFuncs = 100

// OwnFuncs are patterns of what is worth a look in a program that nobody knows yet: the functions of its
// own module, or, where these are few, all but the standard library's; and the doors of that.
func OwnFuncs(b *offsets.Binary) (patterns []string) {
	funcs := b.Funcs()
	var own, others int
	roots := make(map[string]bool) // first elements of the paths of others
	for i := range funcs {
		path := symname.Split(funcs[i].Name).Package
		first, _, nested := strings.Cut(path, "/")
		switch {
		case isOwn(b, path):
			own++
		case nested && strings.Contains(first, "."):
			others++
			roots[first] = true
		}
	}
	if module := b.Module(); module != "" {
		patterns = append(patterns, module+".*", module+"/*")
	}
	if own < fewFuncs && others > 0 {
		for first := range roots {
			patterns = append(patterns, first+"/*")
		}
		slices.Sort(patterns)
	}
	patterns = append(append([]string{"main.*"}, patterns...), doors...)
	return slices.DeleteFunc(patterns, func(text string) bool {
		p, err := compile(text, false)
		return err != nil || len(chosen(b, p)) == 0
	})
}

// isOwn tells whether a package is of the program's own module.
func isOwn(b *offsets.Binary, path string) bool { return path == "main" || within(path, b.Module()) }

// MostWanted puts functions first that were named, and then those of the program's own module.
func (t *Target) MostWanted() {
	rank := func(f *offsets.Func) int {
		switch {
		case t.Roles[f].Named:
			return 0
		case isOwn(t.Binary, symname.Split(f.Name).Package):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(t.Funcs, func(a, b *offsets.Func) int { return rank(a) - rank(b) })
}

// within tells whether a package is of a module.
func within(path, module string) bool {
	return module != "" && (path == module || strings.HasPrefix(path, module+"/"))
}

// GoProcesses visits the processes of Go programs, this one aside, with the paths of their files.
func GoProcesses(yield func(pid int, exe string) bool) {
	for _, p := range procfs.Look() {
		if p.PID != os.Getpid() && isGo(procfs.Exe(p.PID)) && !yield(p.PID, p.Path) {
			return
		}
	}
}

// isGo tells by the names of its sections whether a file is of Go's linker.
func isGo(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") })
}
