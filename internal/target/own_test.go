package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestOwnFuncs checks that, without FUNC, the functions of main, of the program's own module and with Beyond BoundaryFuncs,
// are selected, and that none counts as named.
func TestOwnFuncs(t *testing.T) {
	for _, beyond := range [][]string{nil, BoundaryFuncs} {
		q := &Query{Binary: fixture.Build(t, "httpd"), OwnFuncs: true, Beyond: beyond}
		found, err := q.Resolve(func(string, ...any) {})
		fixture.NoError(t, err)
		defer found.Binary.Close()
		selected := func(name string) bool {
			return slices.ContainsFunc(found.Funcs, func(f *offsets.Func) bool { return f.Name == name })
		}
		if !selected("main.main") || selected("net/http.serverHandler.ServeHTTP") != (beyond != nil) {
			t.Errorf("Beyond %q: wrong functions of %d", beyond, len(found.Funcs))
		}
		for _, f := range found.Funcs {
			if found.Roles[f].Named || strings.HasPrefix(f.Name, "runtime.") {
				t.Errorf("%s is selected, role %+v", f.Name, found.Roles[f])
			}
		}
	}
}

// TestSortByInterest checks the order: named functions, the program's own functions, others.
func TestSortByInterest(t *testing.T) {
	q := &Query{Binary: fixture.Build(t, "lookup"), Funcs: []string{"*", "runtime.main"}}
	found, err := q.Resolve(func(string, ...any) {})
	fixture.NoError(t, err)
	defer found.Binary.Close()
	found.SortByInterest()
	own := func(f *offsets.Func) bool { return strings.HasPrefix(f.Name, "main.") }
	if name := found.Funcs[0].Name; name != "runtime.main" {
		t.Errorf("first is %s", name)
	}
	others := 1 + slices.IndexFunc(found.Funcs[1:], func(f *offsets.Func) bool { return !own(f) })
	if others < 2 || slices.ContainsFunc(found.Funcs[others:], own) {
		t.Errorf("others from %d on, and main's among them", others)
	}
}
