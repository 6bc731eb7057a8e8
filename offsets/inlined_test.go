package offsets

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// linesBuilds are the builds of testdata/lines.
var linesBuilds = []struct {
	name, version string
	flags         []string
}{
	{"DWARF", fixture.Current, nil},
	{"DWARF of PIE", fixture.Current, []string{"-buildmode=pie"}},
	{"-w", fixture.Current, []string{"-ldflags=-w"}},
	{"-s -w", fixture.Current, []string{"-ldflags=-s -w"}},
	{"-s -w of PIE", fixture.Current, []string{"-buildmode=pie", "-ldflags=-s -w"}},
	{"Go 1.27 -s -w", "1.27.4", []string{"-ldflags=-s -w"}},
	{"Go 1.27 -s -w of PIE", "1.27.4", []string{"-buildmode=pie", "-ldflags=-s -w"}},
	{"Go 1.26 -s -w", "1.26.8", []string{"-ldflags=-s -w"}},
	{"Go 1.20 DWARF", "1.20.14", nil},
	{"Go 1.20 -s -w", "1.20.14", []string{"-ldflags=-s -w"}},
	{"Go 1.18 -s -w", "1.18.10", []string{"-ldflags=-s -w"}},
	{"Go 1.17 DWARF", "1.17.13", nil},
	{"Go 1.17 -s -w", "1.17.13", []string{"-ldflags=-s -w"}},
	{"Go 1.16 -s -w", "1.16.15", []string{"-ldflags=-s -w"}},
	{"Go 1.12 DWARF", "1.12.17", nil},
}

// openLines opens testdata/lines.
func openLines(t *testing.T, version string, flags []string) *Binary {
	t.Helper()
	return openPath(t, fixture.BuildWith(t, version, "lines", flags...))
}

func TestInlined(t *testing.T) {
	mark := fixture.Marks(t, "store.go")
	type site struct {
		function string
		line     int
	}
	for _, build := range linesBuilds {
		t.Run(build.name, func(t *testing.T) {
			b := openLines(t, build.version, build.flags)
			for _, test := range []struct {
				name string
				code bool
				want []site
			}{
				{"main.(*store).at", false, []site{{"main.(*store).fill", mark["fill at"]}, {"main.(*store).put", mark["put at"]}}},
				{"main.double", true, []site{{"main.(*store).put", mark["put at"]}, {"main.(*store).put", mark["put return"]}}},
				{"main.(*store).put", true, nil},
				{"main.nosuch", false, nil},
			} {
				inlined, err := b.Inlined()
				fixture.NoError(t, err)
				var got []site
				for _, s := range inlined[test.name] {
					got = append(got, site{s.Function, s.Line})
					if filepath.Base(s.File) != "store.go" {
						t.Errorf("%s is inlined in file %q", test.name, s.File)
					}
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("%s is inlined at %v, want %v", test.name, got, test.want)
				}
				if _, ok := b.Lookup(test.name); ok != test.code {
					t.Errorf("%s has code: %t", test.name, ok)
				}
			}
		})
	}
}

// TestInlinedSourcesAgree compares debug information with Go's function table: the linker writes them from different
// data of the compiler.
func TestInlinedSourcesAgree(t *testing.T) {
	for _, flags := range [][]string{nil, {"-buildmode=pie"}, {"-ldflags=-linkmode=external"}} {
		b := openFixture(t, "exact", flags...)
		d, err := b.debug()
		fixture.NoError(t, err)
		count := make(map[string]int) // of copies in debug information less those in the table
		total := 0
		add := func(n int) func(callee, caller, file string, line int) {
			return func(callee, caller, _ string, _ int) {
				if total++; strings.Contains(callee, ".") { // the table has no C functions
					count[callee+" in "+caller] += n
				}
			}
		}
		fixture.NoError(t, d.Calls(add(1)))
		b.tables.Calls(add(-1))
		for call, n := range count {
			if n != 0 {
				t.Errorf("%q: %s: %d calls more in debug information", flags, call, n)
			}
		}
		if total < 6000 {
			t.Errorf("%q: %d inlined calls", flags, total)
		}
	}
}

func TestInlinedUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	fixture.NoError(t, os.WriteFile(path, seedELF(), 0o700))
	b := openPath(t, path)
	if names, err := b.Inlined(); !errors.Is(err, ErrNoDebugInfo) {
		t.Errorf("inlined: %v, %v", names, err)
	}
	if addrs, err := b.Internals().LineAddrs("f.c", 1); !errors.Is(err, ErrNoDebugInfo) {
		t.Errorf("f.c:1 is at %#x, %v", addrs, err)
	}
	if file, line, ok := b.Position(b.Funcs()[0].Addr); ok {
		t.Errorf("position %s:%d", file, line)
	}
}
