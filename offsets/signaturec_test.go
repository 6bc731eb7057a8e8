package offsets

import (
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSystemVSignature: what C functions take and give is where the compiler put it.
func TestSystemVSignature(t *testing.T) {
	c := openPath(t, fixture.Compile(t, "gcc", "signatures/c/values.c", "-g", "-O1"))
	cxx := openPath(t, fixture.Compile(t, "g++", "signatures/c/objects.cc", "-g", "-O1", "-shared", "-fPIC"))
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
		{cxx, "take", "n=? o=?", "r0=?"},
		{cxx, "give", "p0=?", "r0=?"},
		{cxx, "plain", "p=di/8 n=si/4", "r0=ax/4"},
		{gccgo, "main.add", "a=di/8 b=si/8", "r0=ax/8"},
		{gccgo, "main.sizes", "a=di/1 b=si/2 c=dx/4 d=cx/8 e=r8/1 f=r9/8", "g=ax/1 h=dx/8"},
		{gccgo, "main.text", "s=si/8,dx/8 n=cx/8", "r0=0(ax)/16 r1=16(ax)/16"},
		{gccgo, "main.slices", "b=8(sp)/24 l=32(sp)/24", "r0=0(ax)/8 r1=8(ax)/24"},
		{gccgo, "main.floats", "x=x/8 n=di/8 y=x/4", "r0=x/8 r1=ax/8"},
		{gccgo, "main.blank", "p0=di/8,si/8 a=dx/8 p2=cx/8 b=r8/8,r9/8", "r0=ax/8"},
		{gccgo, "main.references", "m=di/8 c=si/8 f=dx/8 e=cx/8,r8/8 n=8(sp)/16 a=24(sp)/16 p=r9/8", "r0=ax/8 r1=dx/8"},
		{gccgo, "main.node.Name", "n=di/8", "r0=ax/8,dx/8"},
	} {
		s := cSignatureOf(t, want.b, want.name)
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

func cSignatureOf(t *testing.T, b *Binary, name string) *Signature {
	t.Helper()
	f, ok := b.Lookup(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	s, err := b.Signature(f)
	fixture.NoError(t, err)
	return s
}

// TestAAPCS64Signature: so it is on arm64, and where the compiler's debug information tells a place at a
// function's first instruction, that is the one.
func TestAAPCS64Signature(t *testing.T) {
	values := openPath(t, fixture.Compile(t, "aarch64-linux-gnu-gcc", "signatures/c/values.c", "-g", "-O1"))
	floats := openPath(t, fixture.Compile(t, "aarch64-linux-gnu-gcc", "signatures/c/homogeneous.c", "-g", "-O1"))
	compared := 0
	for _, want := range []struct {
		b               *Binary
		name            string
		params, results string
	}{
		{values, "add", "a=x0/4 b=x1/8", "r0=x0/8"},
		{values, "swap", "p=x0/8,x1/8 s=x2/8", "r0=x0/8,x1/8"},
		{values, "mix", "d=x/8 m=x0/8,x1/8 n=x2/4", "r0=x0/8,x1/8"},
		{values, "grow", "l=0(x0)/24 n=x1/4", "r0=?"},
		{values, "sum", "f=x/4,x/4,x/4 c=x0/1", "r0=x/4"},
		{values, "many", "a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 p=x5/8,x6/8 f=x7/8 g=0(sp)/1", "r0=x0/8"},
		{values, "choose", "e=? n=?", "r0=x0/4"},
		{values, "name", "c=x0/4 fallback=x1/8 f=x2/8", "r0=x0/8"},
		{values, "nothing", "", ""},
		{floats, "spread", "d=x/8,x/8,x/8,x/8 n=x0/4", "r0=x/8"},
		{floats, "turn", "d=x/8,x/8,x/8,x/8", "r0=x/8,x/8,x/8,x/8"},
		{floats, "referred", "f=0(x0)/20 n=x1/4", "r0=x/4"},
		{floats, "twice", "u=x0/8,x1/8 n=x2/4", "r0=x/8"},
		{floats, "rest", "a=x/8 b=x/4,x/4,x/4,x/4 c=0(sp)/16 d=16(sp)/4 n=x0/4", "r0=x/8"},
		{floats, "ended", "a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 f=x5/8 g=x6/8 w=0(sp)/16 h=16(sp)/4", "r0=x0/8"},
		{floats, "five", "p=x0/8 n=x1/4", "r0=?"},
		{floats, "text", "t=x0/8,x1/1 n=x2/4", "r0=x0/8,x1/1"},
		{floats, "complexes", "z=x/8,x/8 n=x0/4 y=x/4,x/4", "r0=x/8"},
		{floats, "vector", "v=? n=?", "r0=x/4"},
	} {
		s := cSignatureOf(t, want.b, want.name)
		if params, results := spell(s.Params), spell(s.Results); params != want.params || results != want.results {
			t.Errorf("%s: %s -> %s\nwant %s -> %s", want.name, params, results, want.params, want.results)
		}
		compared += compareLocations(t, want.b, want.name, s.Params)
	}
	if compared < 20 {
		t.Errorf("%d parameters compared", compared)
	}
}

// compareLocations compares parameters with where debug information has them at the function's first
// instruction, and returns how many there were.
func compareLocations(t *testing.T, b *Binary, name string, params []Variable) (compared int) {
	t.Helper()
	f, _ := b.Lookup(name)
	d, err := b.debug()
	fixture.NoError(t, err)
	fn, err := d.Function(f.Addr)
	fixture.NoError(t, err)
	for i, v := range params {
		at, ok := d.Location(fn, f.Addr, &fn.Params[i])
		if !ok || v.Err != nil || at.Stack && at.Disp < at.Lowest { // its own frame
			continue
		}
		compared++
		told := len(at.Registers) == len(v.Pieces)
		for k, p := range v.Pieces {
			told = told && !p.InMemory && p.Register == at.Registers[k]
		}
		if at.Stack {
			told = len(v.Pieces) == 1 && v.Pieces[0].InMemory && v.Pieces[0].Register == at.SP && v.Pieces[0].Disp == at.Disp
		}
		if !told {
			t.Errorf("%s: %s is at %s, debug information has %+v", name, v.Name, whereIs(v), at)
		}
	}
	return compared
}
