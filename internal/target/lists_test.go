package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestReadLists checks that the lines of a list replace its argument, and that errors name the line.
func TestReadLists(t *testing.T) {
	dir := t.TempDir()
	list := func(name, text string) string {
		path := filepath.Join(dir, name)
		fixture.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := list("good", "# what matters\nmain.a\n\n\tmain.(*T).f  # often\r\nmain.g(n int)\nmain.h#1")
	q := Query{Funcs: []string{"main.z", "@" + good}, Signatures: true}
	fixture.NoError(t, q.Check())
	if want := []string{"main.z", "main.a", "main.(*T).f", "main.g(n int)", "main.h#1"}; !slices.Equal(q.Funcs, want) {
		t.Errorf("%q, want %q", q.Funcs, want)
	}
	binary := fixture.Build(t, "flood")
	for _, c := range []struct {
		scenario, text, want string
		kind                 error
	}{
		{"no offset", "a\n\n\n\n\n\nmain.f+0xzz\n", `:7: parse "main.f+0xzz"`, ErrUsage},
		{"values", "main.f(n)\n", `:1: "main.f(n)": only trace shows values`, ErrUsage},
		{"another list", "@other\n", `:1: "@other": a list names no other`, ErrUsage},
		{"nothing", "# nothing\n", ": no FUNC in it", ErrUsage},
		{"not there", "main.main\nmain.nosuch\n", ":2: ", ErrNothing},
		{"line without code", "main.main\nmain.go:99999\n", ":2: ", ErrNothing},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			path := list("bad", c.text)
			q := Query{Binary: binary, Funcs: []string{"@" + path}}
			target, err := q.Resolve(func(string, ...any) {})
			if err == nil {
				target.Binary.Close()
				t.Fatal("no error")
			}
			if !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("%v, want %s%s", err, path, c.want)
			}
		})
	}
	if err := (&Query{Funcs: []string{"@" + dir + "/nosuch"}}).Check(); !errors.Is(err, ErrUsage) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a list that is not there: %v", err)
	}
	if err := (&Query{Funcs: []string{"@/dev/zero"}}).Check(); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a list without end: %.200v", err)
	}
}

// TestUnmatchedList checks that a long list of names without a match does not cause a search of all names for each, and that
// ends of names are still found.
func TestUnmatchedList(t *testing.T) {
	bin := fixture.Build(t, "lines")
	funcs := []string{"store.put"}
	for i := range 5000 {
		funcs = append(funcs, fmt.Sprintf("main.nosuch%d", i))
	}
	var said []string
	var err error
	resolve := func(missing bool) {
		said = nil
		q := Query{Binary: bin, Funcs: funcs, Matching: Matching{AllowUnmatched: missing}}
		var found *Target
		if found, err = q.Resolve(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }); err == nil {
			if len(found.Funcs) != 1 || found.Funcs[0].Name != "main.(*store).put" {
				t.Errorf("found %v", found.Funcs)
			}
			found.Binary.Close()
		}
	}
	allocated := testing.AllocsPerRun(1, func() { resolve(false) })
	if err == nil || !strings.Contains(err.Error(), `no function matches "main.nosuch0"`) || allocated > 1_000_000 {
		t.Errorf("%v, %.0f allocations", err, allocated)
	}
	resolve(true)
	if err != nil || len(said) != 12 || said[0] != "store.put is main.store.put" || said[11] != bin+": no function matches 4990 more patterns" {
		t.Errorf("%v, said %q", err, said)
	}
}
