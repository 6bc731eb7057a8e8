package offsets

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/offsets/symname"
)

func TestSelect(t *testing.T) {
	funcs := []Func{
		{Name: "main.run", Addr: 0x50},
		{Name: "main.(*Store).Len", Addr: 0x40},
		{Name: "main.Store.Len", Addr: 0x30},
		{Name: "runtime.memmove", Addr: 0xc0},
		{Name: "runtime.memmove", Addr: 0xb0},
		{Name: "alias_too", Addr: 0xd0},
		{Name: "alias", Addr: 0xd0},
	}
	for _, c := range []struct {
		scenario, include, exclude string
		want                       []*Func
	}{
		{"address order", "main.*", "", []*Func{&funcs[2], &funcs[1], &funcs[0]}},
		{"exclusion", "main.*", "main.run", []*Func{&funcs[2], &funcs[1]}},
		{"all functions of one name", "runtime.memmove", "", []*Func{&funcs[4], &funcs[3]}},
		{"one function an address", "alias*", "", []*Func{&funcs[6]}},
		{"none", "main.nosuch", "", nil},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			include, err := symname.Glob(c.include)
			if err != nil {
				t.Fatal(err)
			}
			exclude, _ := symname.Glob(c.exclude) // the zero Pattern matches nothing
			selected, of, unmatched := Select(funcs, []symname.Pattern{include}, []symname.Pattern{exclude})
			if !slices.Equal(selected, c.want) || !slices.Equal(of[0], c.want) {
				t.Errorf("selected %v, of the pattern %v, want %v", selected, of, c.want)
			}
			if (len(unmatched) > 0) != (c.want == nil) {
				t.Errorf("unmatched %v", unmatched)
			}
		})
	}
}

// TestDemangle: what the linker calls a function stays among its other names.
func TestDemangle(t *testing.T) {
	funcs := []Func{
		{Name: "_Z3addii"},
		{Name: "_Z3addff"},
		{Name: "_Z3onei", aliases: []string{"_Z3twov", "also"}},
		{Name: "main.T.M", aliases: []string{"main.T.N"}},
	}
	want := []Func{
		{Name: "add(int, int)", aliases: []string{"_Z3addii"}},
		{Name: "add(float, float)", aliases: []string{"_Z3addff"}},
		{Name: "one", aliases: []string{"_Z3twov", "also", "two", "_Z3onei"}},
		{Name: "main.T.M", aliases: []string{"main.T.N"}},
	}
	demangle(funcs)
	for i, f := range funcs {
		if f.Name != want[i].Name || !slices.Equal(f.aliases, want[i].aliases) {
			t.Errorf("%q with aliases %q, want %q with %q", f.Name, f.aliases, want[i].Name, want[i].aliases)
		}
	}
}
