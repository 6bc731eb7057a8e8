package uprobe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestNewHistograms(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "flood"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var funcs []*offsets.Func
	for _, name := range []string{"main.leaf", "runtime.mallocgc", "main.framed", "runtime.memmove"} {
		f, ok := b.Lookup(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		funcs = append(funcs, f)
	}
	p, err := uprobe.NewHistograms(b, funcs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names, skipped []string
	for _, f := range p.Funcs {
		names = append(names, f.Name)
	}
	for _, s := range p.Skipped {
		skipped = append(skipped, s.Func.Name)
		if !strings.Contains(s.Reason.Error(), "R14") {
			t.Errorf("%s: %v", s.Func.Name, s.Reason)
		}
	}
	if !slices.Equal(names, []string{"main.leaf", "main.framed"}) || !slices.Equal(skipped, []string{"runtime.mallocgc", "runtime.memmove"}) {
		t.Errorf("planned %q, skipped %q", names, skipped)
	}
	c := p.Calls
	if len(c.Entry.Sites) != 2 || len(c.Return.Sites) != 2 || p.Probes() != 4 || c.Funcs != 2 {
		t.Errorf("events %+v", c)
	}
	for _, ev := range [][][]string{c.Entry.Fetch, c.Return.Fetch} {
		for i, fetch := range ev {
			if want := []string{`\` + string(rune('0'+i)), "%r14", "%sp", "+8(%r14)"}; !slices.Equal(fetch, want) {
				t.Errorf("site %d fetches %q, want %q", i, fetch, want)
			}
		}
	}
}

// TestNewHistogramsWithoutReturns: nothing to take the time of.
func TestNewHistogramsWithoutReturns(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "exact"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	all := b.Funcs()
	for i := range all {
		f := &all[i]
		s, err := b.Sites(f)
		if err != nil || symname.Split(f.Name).Package != "main" || f.ABI != offsets.ABIInternal || len(s.Returns)+len(s.Tails)+len(s.CondTails) > 0 || s.Restarts {
			continue
		}
		p, err := uprobe.NewHistograms(b, []*offsets.Func{f}, nil)
		if err != nil || len(p.Funcs) != 0 || len(p.Skipped) != 1 || !strings.Contains(p.Skipped[0].Reason.Error(), "never returns") {
			t.Errorf("%s: %+v (%v)", f.Name, p, err)
		}
		return
	}
	t.Error("no function that never returns in the target")
}
