package offsets

import (
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSystemVSignature: what C functions take and give is where the compiler put it.
func TestSystemVSignature(t *testing.T) {
	c := openPath(t, fixture.Compile(t, "gcc", "signatures/c/values.c", "-g", "-O1"))
	gccgo := openPath(t, fixture.Compile(t, "gccgo", "signatures/main.go", "-g", "-O1", filepath.Join(fixture.Root(), "testdata/signatures/generics_none.go")))
	for _, want := range []struct {
		b               *Binary
		name            string
		params, results string
	}{
		{c, "add", "a=di/4 b=si/8", "r0=ax/8"},
		{c, "swap", "p=di/8,si/8 s=dx/8", "r0=ax/8,dx/8"},
		{c, "mix", "d=x/8 m=x/8,di/8 n=si/4", "r0=x/8,ax/8"},
		{c, "grow", "l=8(sp)/24 n=si/4", "r0=0(ax)/24"},
		{c, "sum", "f=x/8,x/4 c=di/1", "r0=x/4"},
		{c, "many", "a=di/8 b=si/8 c=dx/8 d=cx/8 e=r8/8 p=8(sp)/16 f=r9/8 g=24(sp)/1", "r0=ax/8"},
		{c, "choose", "e=? n=?", "r0=ax/4"},
		{c, "name", "c=di/4 fallback=si/8 f=dx/8", "r0=ax/8"},
		{c, "nothing", "", ""},
		{gccgo, "main.add", "a=di/8 b=si/8", "r0=ax/8"},
		{gccgo, "main.sizes", "a=di/1 b=si/2 c=dx/4 d=cx/8 e=r8/1 f=r9/8", "g=ax/1 h=dx/8"},
		{gccgo, "main.text", "s=si/8,dx/8 n=cx/8", "r0=0(ax)/16 r1=16(ax)/16"},
		{gccgo, "main.slices", "b=8(sp)/24 l=32(sp)/24", "r0=0(ax)/8 r1=8(ax)/24"},
		{gccgo, "main.floats", "x=x/8 n=di/8 y=x/4", "r0=x/8 r1=ax/8"},
		{gccgo, "main.blank", "p0=di/8,si/8 a=dx/8 p2=cx/8 b=r8/8,r9/8", "r0=ax/8"},
		{gccgo, "main.references", "m=di/8 c=si/8 f=dx/8 e=cx/8,r8/8 n=8(sp)/16 a=24(sp)/16 p=r9/8", "r0=ax/8 r1=dx/8"},
		{gccgo, "main.node.Name", "n=di/8", "r0=ax/8,dx/8"},
	} {
		f, ok := want.b.Lookup(want.name)
		if !ok {
			t.Errorf("no function %s", want.name)
			continue
		}
		s, err := want.b.Signature(f)
		if err != nil {
			t.Error(err)
			continue
		}
		if params, results := spell(s.Params), spell(s.Results); params != want.params || results != want.results {
			t.Errorf("%s: %s -> %s\nwant %s -> %s", want.name, params, results, want.params, want.results)
		}
		if want.name != "name" {
			continue
		}
		if color := s.Params[0].Type; color.Constant(0) != "RED" || color.Constant(1) != "GREEN" || color.Constant(2) != "" {
			t.Errorf("constants of %s: %q, %q, %q", color.Name, color.Constant(0), color.Constant(1), color.Constant(2))
		}
	}
}
