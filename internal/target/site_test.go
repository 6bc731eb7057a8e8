package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParseInstruction(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       funcArg // the instruction
		ok         bool
		err        string
	}{
		{"hexadecimal offset", "main.f+0x1a", funcArg{function: "main.f", number: 0x1a}, true, ""},
		{"decimal offset", "main.f+26", funcArg{function: "main.f", number: 26}, true, ""},
		{"leading zero is decimal", "main.f+010", funcArg{function: "main.f", number: 10}, true, ""},
		{"generic", "main.Map[go.shape.int]+0x1", funcArg{function: "main.Map[go.shape.int]", number: 1}, true, ""},
		{"largest offset", "f+18446744073709551615", funcArg{function: "f", number: 1<<64 - 1}, true, ""},
		{"plus in the import path", "example.org/c++/x.F+8", funcArg{function: "example.org/c++/x.F", number: 8}, true, ""},
		{"line", "store.go:42", funcArg{file: "store.go", number: 42}, true, ""},
		{"line of assembly", "asm_amd64.s:7", funcArg{file: "asm_amd64.s", number: 7}, true, ""},

		{"function", "main.f", funcArg{}, false, ""},
		{"offset alone", "+0x1a", funcArg{}, false, ""},
		{"import path that ends like an offset", "example.org/c+0x/y.F", funcArg{}, false, ""},
		{"struct tag", `main.G[go.shape.struct { A int "a+1" }]`, funcArg{}, false, ""},

		{"no digits", "main.f+0x", funcArg{}, false, `parse "main.f+0x": "0x" is not an offset like 0x1a or 26`},
		{"too large", "main.f+0x10000000000000000", funcArg{}, false, "is not an offset"},
		{"no line", "store.go:", funcArg{}, false, `parse "store.go:": "" is not a line number`},
		{"negative line", "store.go:-3", funcArg{}, false, "is not a line number"},
		{"line and column", "store.go:3:14", funcArg{}, false, `"3:14" is not a line number`},
		{"file with wildcard", "*.go:3", funcArg{}, false, "no wildcards"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseFunc(test.text, false, true)
			ok := got.isInstruction()
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%+v, %v; want error %q", got, err, test.err)
				}
				return
			}
			if got.function != test.want.function || got.file != test.want.file || got.number != test.want.number || ok != test.ok || err != nil {
				t.Errorf("%+v, %t, %v; want %+v, %t", got, ok, err, test.want, test.ok)
			}
		})
	}
}

func FuzzParseInstruction(f *testing.F) {
	for _, text := range []string{"main.f+0x1a", "main.f+26", "store.go:42", "/a/b.s:1", "main.(*T).M+0x", "x+0x1.go:3", "a.go:b.go:7", "c++0x1", "main.*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseFunc(text, false, true)
		if err != nil || !p.isInstruction() {
			return
		}
		if (p.function == "") == (p.file == "") || p.file != "" && p.number == 0 {
			t.Fatalf("%q: %+v", text, p)
		}
		// The FUNC can be formatted, and parsed again.
		again := fmt.Sprintf("%s:%d", p.file, p.number)
		if p.function != "" {
			again = fmt.Sprintf("%s+%#x", p.function, p.number)
		}
		q, err := parseFunc(again, false, true)
		if q.function != p.function || q.file != p.file || q.number != p.number || err != nil {
			t.Errorf("%q: %+v; again as %q: %+v, %v", text, p, again, q, err)
		}
	})
}

func TestResolveSite(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "lines"))
	marks := fixture.Marks(t, "store.go")
	resolve := func(t *testing.T, text string) ([]uprobe.Probe, error) {
		t.Helper()
		p, err := parseFunc(text, false, true)
		fixture.NoError(t, err)
		found, err := p.resolve(&Target{Binary: b})
		for _, at := range found {
			if at.Err != nil {
				t.Errorf("%s: %s: %v", text, at.Name, at.Err)
			}
		}
		return found, err
	}
	frame, ok := b.Lookup("main.(*store).frame")
	if !ok {
		t.Fatal("no main.(*store).frame")
	}
	sites, err := b.Sites(frame)
	if err != nil || sites.Check == nil {
		t.Fatalf("main.(*store).frame: no stack check, %v", err)
	}

	t.Run("offset", func(t *testing.T) {
		at := sites.Entry.Addr() - frame.Addr
		for _, name := range []string{"main.(*store).frame", "main.store.frame", "*store*frame"} {
			found, err := resolve(t, fmt.Sprintf("%s+%d", name, at))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %d found, %v", name, len(found), err)
			}
			s := found[0]
			if want := fmt.Sprintf("main.(*store).frame+%#x", at); s.Name != want || s.Sites.Entry != sites.Entry || s.Sites.Restarts {
				t.Errorf("%s: %q at %#x, again %t; want %q at %#x", name, s.Name, s.Addr, s.Sites.Restarts, want, sites.Entry.Addr())
			}
		}
	})
	t.Run("offset before the stack check is executed again", func(t *testing.T) {
		found, err := resolve(t, "main.store.frame+0")
		if err != nil || len(found) != 1 || !found[0].Sites.Restarts || found[0].Addr != frame.Addr {
			t.Errorf("%+v, %v", found, err)
		}
	})
	t.Run("line of a function's start is where its calls begin", func(t *testing.T) {
		line := marks["frame start"]
		found, err := resolve(t, fmt.Sprintf("store.go:%d", line))
		if err != nil || len(found) != 1 {
			t.Fatalf("%d found, %v", len(found), err)
		}
		if s := found[0]; s.Sites.Entry != sites.Entry || s.Name != fmt.Sprintf("store.go:%d", line) || s.Sites.Restarts {
			t.Errorf("%q at %#x; want %#x", s.Name, s.Addr, sites.Entry.Addr())
		}
	})
	t.Run("line of an inlined function", func(t *testing.T) {
		line := marks["double"]
		found, err := resolve(t, fmt.Sprintf("lines/store.go:%d", line))
		var in []string
		for _, s := range found {
			f, ok := b.FuncAt(s.Addr)
			if !ok {
				t.Fatalf("%s is in no function", s.Name)
			}
			in = append(in, f.Name)
			if want := fmt.Sprintf("store.go:%d (%s+%#x)", line, f.Name, s.Addr-f.Addr); s.Name != want {
				t.Errorf("label %q, want %q", s.Name, want)
			}
		}
		if want := []string{"main.double", "main.(*store).put", "main.(*store).put"}; !slices.Equal(in, want) || err != nil {
			t.Errorf("in %q, %v; want %q", in, err, want)
		}
	})

	for _, test := range []struct {
		name, text string
		kind       error // nil means neither of both
		want       string
	}{
		{"beyond the function", "main.store.put+0x9999", ErrNothing, "beyond the function's"},
		{"no function", "main.store.pit+0", ErrNothing, `no function matches "main.store.pit"; nearest: main.(*store).put`},
		{"inlined function", "main.(*store).at+0", ErrNothing, "no code of its own"},
		{"many functions", "main.store.*+0", ErrUsage, "main.store.*+0: 3 functions of that name, such as main.(*store).put at "},
		{"several files", "type.go:1", nil, "files of that name: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := resolve(t, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%+v, %v; want %q", found, err, test.want)
			}
			for _, kind := range []error{ErrUsage, ErrNothing} {
				if errors.Is(err, kind) != (kind == test.kind) {
					t.Errorf("%v: %v", kind, errors.Is(err, kind))
				}
			}
		})
	}
}
