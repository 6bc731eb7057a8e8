package target

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestChoose(t *testing.T) {
	funcs := []offsets.Func{
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
		want                       []*offsets.Func
	}{
		{"address order", "main.*", "", []*offsets.Func{&funcs[2], &funcs[1], &funcs[0]}},
		{"exclusion", "main.*", "main.run", []*offsets.Func{&funcs[2], &funcs[1]}},
		{"all functions of one name", "runtime.memmove", "", []*offsets.Func{&funcs[4], &funcs[3]}},
		{"one function an address", "alias*", "", []*offsets.Func{&funcs[6]}},
		{"none", "main.nosuch", "", nil},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			include, err := symname.Compile(c.include, false)
			if err != nil {
				t.Fatal(err)
			}
			exclude, _ := symname.Compile(c.exclude, false) // the zero Pattern matches nothing
			of, unmatched := choose(funcs, []symname.Pattern{include}, []symname.Pattern{exclude})
			if !slices.Equal(of[0], c.want) {
				t.Errorf("selected %v, want %v", of, c.want)
			}
			if (len(unmatched) > 0) != (c.want == nil) {
				t.Errorf("unmatched %v", unmatched)
			}
		})
	}
}

func TestSpellOut(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for text, want := range map[string]string{
		"store.put": "main.store.put", "mallocgc": "runtime.mallocgc", "(*store).put": "main.store.put", "store.nosuch": "store.nosuch",
		"atomic.Int32.Store": "internal/runtime/atomic.Int32.Store", "godebug.(*Setting).*Val*": "internal/godebug.(*Setting).*Val*",
		"main.*nosuch*": "main.*nosuch*", "fmt.Nosuch": "fmt.Nosuch",
	} {
		p, err := symname.Compile(text, false)
		if err != nil {
			t.Fatal(err)
		}
		full, err := spellOut(b, p, false)
		if err != nil || full.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, full, err, want)
		}
	}
	p, _ := symname.Compile("put", false)
	if _, err := spellOut(b, p, false); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), `"put" is the end of `) || !strings.Contains(err.Error(), " more") {
		t.Errorf("%v", err)
	}
}
