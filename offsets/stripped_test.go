package offsets

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// linkMode is a way to build.
type linkMode struct {
	name  string
	flags []string
	link  string
}

// build builds the exactness target with a release of Go.
func (m *linkMode) build(t *testing.T, version, ldflags string) string {
	t.Helper()
	path, err := fixture.TryBuildWith(t, version, "exact", append(slices.Clone(m.flags), "-ldflags="+ldflags+m.link)...)
	if v, _ := gotab.ParseVersion("go" + version); err != nil && m.flags != nil && v.Minor > 0 && v.Minor < 15 {
		t.Skipf("linked by a C compiler that is too new for it: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStripped: a stripped binary has the functions and sites of the one that is not,
// also without section headers.
func TestStripped(t *testing.T) {
	modes := []linkMode{
		{"executable", nil, ""},
		{"pie", []string{"-buildmode=pie"}, ""},
		{"external pie", []string{"-buildmode=pie"}, "-linkmode=external"},
		{"shared library", []string{"-buildmode=c-shared"}, ""},
	}
	for _, version := range fixture.Releases() {
		for _, mode := range modes {
			t.Run(version+" "+mode.name, func(t *testing.T) {
				if mode.name != "executable" && mode.name != "pie" {
					fixture.NeedLong(t)
				}
				full, stripped := mode.build(t, version, ""), mode.build(t, version, "-s -w ")
				want := openPath(t, full)
				if len(want.Funcs()) < 1000 {
					t.Fatalf("only %d functions", len(want.Funcs()))
				}
				compareTwins(t, want, openPath(t, stripped))
				compareTwins(t, want, openPath(t, fixture.Headless(t, stripped)))
			})
		}
	}
}

// compareTwins compares the Go functions of a binary with those of its stripped twin.
func compareTwins(t *testing.T, full, stripped *Binary) {
	t.Helper()
	if full.goVer.Text != stripped.goVer.Text {
		t.Errorf("Go version %v, stripped %v", full.goVer, stripped.goVer)
	}
	if n := stripped.image.Symbols(elf.SHT_SYMTAB); n > 0 {
		t.Fatalf("the stripped twin has %d symbols", n)
	}
	describe := func(b *Binary, f *Func) string {
		text := fmt.Sprintf("%s %d %#x+%d", elided(b, f.Name), f.ABI, f.Addr, f.Size)
		s, err := b.Sites(f)
		if err != nil {
			return text + " " + err.Error()
		}
		return text + fmt.Sprintf(" %v %v %v %v %v", s.Entry, s.Check, s.Restarts, s.Returns, s.Tails)
	}
	want := make(map[uint64]string)
	for i := range full.Funcs() {
		if f := &full.Funcs()[i]; f.ABI != SystemV {
			want[f.Addr] = describe(full, f)
		}
	}
	differ := 0
	for i := range stripped.Funcs() {
		f := &stripped.Funcs()[i]
		if f.ABI == SystemV {
			continue
		}
		if got := describe(stripped, f); got != want[f.Addr] {
			if differ++; differ < 10 {
				t.Errorf("stripped %s\n    full %s", got, want[f.Addr])
			}
		}
		delete(want, f.Addr)
	}
	for _, missing := range want {
		if differ++; differ < 10 {
			t.Errorf("missing from the stripped twin: %s", missing)
		}
	}
	if differ > 0 {
		t.Errorf("%d differences", differ)
	}
}

// elided is a name as the function table of the binary's version of Go spells it.
func elided(b *Binary, name string) string {
	first, last := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if first < 0 || last < first || b.goVer.Minor < 18 || b.goVer.Minor > 20 {
		return name
	}
	return name[:first] + "[...]" + name[last+1:]
}
