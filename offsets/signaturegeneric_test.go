package offsets

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestGenericSignature: a generic function takes its dictionary where its version of Go
// passes it.
func TestGenericSignature(t *testing.T) {
	for _, c := range []struct{ version, method, value, function string }{
		{"1.18.10", "p=bx/8 x=cx/8,di/8 n=si/8", "p=bx/8,cx/8,di/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{"1.20.14", "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{fixture.Current, "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
	} {
		t.Run(c.version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, c.version, "signatures"))
			text, second := "go.shape.string", "go.shape.string"
			number := "go.shape.int"
			if c.version == "1.18.10" {
				text, second, number = text+"_0", second+"_1", number+"_0"
			}
			for name, want := range map[string]string{
				"main.(*pile[" + text + "]).push":          c.method,
				"main.pile[" + text + "].first":            c.value,
				"main.pick[" + number + "," + second + "]": c.function,
			} {
				f, ok := b.Lookup(name)
				if !ok {
					t.Errorf("no function %s", name)
					continue
				}
				s, err := b.Signature(f)
				if err != nil {
					t.Error(err)
				} else if got := spell(s.Params); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
	}
}
