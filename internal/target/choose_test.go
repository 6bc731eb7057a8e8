package target

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWrappers checks that patterns leave out the wrappers of go and defer statements and of instances of generic
// functions, but no function of the source, even if it only calls another one, or if stacks omit it.
func TestWrappers(t *testing.T) {
	written := []string{
		"main.add", "main.cons[S].match", "main.cons[S].match", "main.cons[S].relay", "main.each", "main.main",
		"main.main.func1", "main.main.func2", "main.relay", "runtime.call16", "runtime.deferreturn",
	}
	for _, version := range []string{"1.18.10", "1.20.14", "1.22.12", "1.24.6", "1.25.0", fixture.Current} {
		for _, flags := range []string{"", "-s -w"} {
			t.Run(version+flags, func(t *testing.T) {
				bin := fixture.BuildWith(t, version, "wrapped", "-ldflags="+flags)
				resolve := func(q Query) (names []string) {
					t.Helper()
					q.Binary = bin
					found, err := q.Resolve(func(string, ...any) {})
					fixture.NoError(t, err)
					defer found.Binary.Close()
					for _, f := range found.Funcs {
						names = append(names, shapes.ReplaceAllString(f.Name, "[S]"))
					}
					slices.Sort(names)
					return names
				}
				patterns := []string{"main.*", "runtime.call1?", "runtime.deferretur*"}
				if got := resolve(Query{Funcs: patterns}); !slices.Equal(got, written) {
					t.Errorf("%q, want %q", got, written)
				}
				if n := len(resolve(Query{Funcs: patterns, Matching: Matching{Wrappers: true}})) - len(written); n < 5 {
					t.Errorf("--wrappers adds %d, want those of two types, two go and defer statements, and a pointer's", n)
				}
				exact := "main.cons[int].match"
				if flags != "" && strings.Compare(version, "1.21") < 0 {
					exact = "main.cons[...].match"
				}
				if got := resolve(Query{Funcs: []string{exact}}); !slices.Equal(got, []string{exact}) && !slices.Equal(got, written[1:3]) {
					t.Errorf("%s selects %q", exact, got)
				}
			})
		}
	}
}

// shapes matches the type arguments of compiled code in the names of all versions of Go.
var shapes = regexp.MustCompile(`\[(go\.shape\.[a-z]+(_0)?|\.\.\.)\]`)

func TestSpellOut(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "lines"))
	for text, want := range map[string]string{
		"store.put": "main.store.put", "mallocgc": "runtime.mallocgc", "(*store).put": "main.store.put", "store.nosuch": "store.nosuch",
		"atomic.Int32.Store": "internal/runtime/atomic.Int32.Store", "godebug.(*Setting).*Val*": "internal/godebug.(*Setting).*Val*",
		"main.*nosuch*": "main.*nosuch*", "fmt.Nosuch": "fmt.Nosuch",
	} {
		p, err := symname.Compile(text, false)
		fixture.NoError(t, err)
		full, err := (&Target{Binary: b}).spellOut(p, false)
		if err != nil || full.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, full, err, want)
		}
	}
	for text, want := range map[string][2]string{
		"put":      {`"put" is the end of `, " more; '*put' takes all"},
		"atomic.*": {`"atomic.*" is the end of 2 names: `, "; '*atomic.*' takes all"},
	} {
		p, _ := symname.Compile(text, false)
		if _, err := (&Target{Binary: b}).spellOut(p, false); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), want[0]) || !strings.HasSuffix(err.Error(), want[1]) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSortUnique checks the order of functions, and that one of several names of an address is chosen.
func TestSortUnique(t *testing.T) {
	funcs := []*offsets.Func{{Name: "late", Addr: 3}, {Name: "alias_too", Addr: 2}, {Name: "same", Addr: 1}, {Name: "alias", Addr: 2}}
	if got, want := sortUnique(slices.Clone(funcs)), []*offsets.Func{funcs[2], funcs[3], funcs[0]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
