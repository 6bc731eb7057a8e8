package offsets

import (
	"slices"
	"testing"
)

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
