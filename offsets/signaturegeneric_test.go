package offsets

import (
	"debug/elf"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// dictionaryTypes are the types of parameters by a dictionary, as the file has it.
func dictionaryTypes(b *Binary, s *Signature, dictionary string) string {
	var at uint64
	b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		if s.Name == dictionary {
			at = s.Addr
		}
	})
	var names []string
	for _, v := range s.Params {
		name := "-"
		if v.Real != nil {
			addr, _ := b.image.Pointer(at + uint64(v.Real.Through[0]))
			if t, err := b.Internals().RuntimeType(addr); err == nil && whereIs(*v.Real) == "ax/8" {
				name = t.Name
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestGenericSignature: a generic function takes its dictionary where its version of Go
// passes it.
func TestGenericSignature(t *testing.T) {
	for _, c := range []struct{ version, method, value, function string }{
		{"1.18.10", "p=bx/8 x=cx/8,di/8 n=si/8", "p=bx/8,cx/8,di/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{"1.20.14", "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{"1.27.4", "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
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
					continue
				}
				if got := dictionaryTypes(b, s, "main..dict.pick[int,string]"); strings.HasPrefix(name, "main.pick") && got != "int string -" {
					t.Errorf("the dictionary of %s has the types %s", name, got)
				}
				if got := spell(s.Params); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
	}
}
