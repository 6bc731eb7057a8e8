package offsets

import (
	"cmp"
	"debug/dwarf"
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

// TestInlinedAgainstDWARF compares Go's function table with debug information: the linker writes them from different data of
// the compiler.
func TestInlinedAgainstDWARF(t *testing.T) {
	for _, flags := range [][]string{nil, {"-buildmode=pie"}, {"-ldflags=-linkmode=external"}} {
		b := openFixture(t, "exact", flags...)
		data, err := b.image.ELF.DWARF()
		fixture.NoError(t, err)
		names, caller := make(map[dwarf.Offset]string), dwarf.Offset(0)
		var calls [][2]dwarf.Offset
		for r := data.Reader(); ; {
			e, err := r.Next()
			fixture.NoError(t, err)
			if e == nil {
				break
			}
			origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			switch e.Tag {
			case dwarf.TagSubprogram:
				caller = cmp.Or(origin, e.Offset)
				if name, ok := e.Val(dwarf.AttrName).(string); ok {
					names[e.Offset] = strings.ReplaceAll(name, "·", ".")
				}
			case dwarf.TagInlinedSubroutine:
				calls = append(calls, [2]dwarf.Offset{origin, caller})
			}
		}
		count := make(map[string]int) // of copies in debug information less those in the table
		for _, c := range calls {
			if callee := names[c[0]]; strings.Contains(callee, ".") { // the table has no C functions
				count[callee+" in "+names[c[1]]]++
			}
		}
		b.tables.Calls(func(callee, caller, _ string, _ int) { count[callee+" in "+caller]-- })
		for call, n := range count {
			if n != 0 {
				t.Errorf("%q: %s: %d calls more in debug information", flags, call, n)
			}
		}
		if len(calls) < 3000 {
			t.Errorf("%q: %d inlined calls", flags, len(calls))
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
