package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParsePlace(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       place // without text
		ok         bool
		err        string
	}{
		{"hexadecimal offset", "main.f+0x1a", place{function: "main.f", offset: 0x1a}, true, ""},
		{"decimal offset", "main.f+26", place{function: "main.f", offset: 26}, true, ""},
		{"leading zero is decimal", "main.f+010", place{function: "main.f", offset: 10}, true, ""},
		{"start", "main.f+0", place{function: "main.f"}, true, ""},
		{"method", "main.(*Store).Get+0x1A", place{function: "main.(*Store).Get", offset: 26}, true, ""},
		{"generic", "main.Map[go.shape.int]+0x1", place{function: "main.Map[go.shape.int]", offset: 1}, true, ""},
		{"largest offset", "f+18446744073709551615", place{function: "f", offset: 1<<64 - 1}, true, ""},
		{"plus in the import path", "example.org/c++/x.F+8", place{function: "example.org/c++/x.F", offset: 8}, true, ""},
		{"line", "store.go:42", place{file: "store.go", line: 42}, true, ""},
		{"line in a folder", "dir/store.go:42", place{file: "dir/store.go", line: 42}, true, ""},
		{"line of an absolute path", "/src/a b/store.go:1", place{file: "/src/a b/store.go", line: 1}, true, ""},
		{"line of assembly", "asm_amd64.s:7", place{file: "asm_amd64.s", line: 7}, true, ""},

		{"function", "main.f", place{}, false, ""},
		{"glob", "main.*", place{}, false, ""},
		{"nothing", "", place{}, false, ""},
		{"offset alone", "+0x1a", place{}, false, ""},
		{"line alone", ".go:3", place{}, false, ""},
		{"import path that ends like an offset", "example.org/c+0x/y.F", place{}, false, ""},
		{"import path with a number", "example.org/a+1.F", place{}, false, ""},
		{"plus at the end", "main.f+", place{}, false, ""},
		{"struct tag", `main.G[go.shape.struct { A int "a+1" }]`, place{}, false, ""},
		{"other symbols with a colon", "type:.eq.main.T", place{}, false, ""},

		{"no digits", "main.f+0x", place{}, false, `parse "main.f+0x": "0x" is no offset like 0x1a or 26`},
		{"no hexadecimal digits", "main.f+0xzz", place{}, false, `"0xzz" is no offset`},
		{"too large", "main.f+0x10000000000000000", place{}, false, "is no offset"},
		{"underscore", "main.f+0x1_0", place{}, false, "is no offset"},
		{"no line", "store.go:", place{}, false, `parse "store.go:": "" is no line number`},
		{"line zero", "store.go:0", place{}, false, "is no line number"},
		{"negative line", "store.go:-3", place{}, false, "is no line number"},
		{"line and column", "store.go:3:14", place{}, false, `"3:14" is no line number`},
		{"huge line", "store.go:4294967296", place{}, false, "is no line number"},
		{"file with wildcard", "*.go:3", place{}, false, "no wildcards"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok, err := parsePlace(test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || ok {
					t.Errorf("%+v, %t, %v; want error %q", got, ok, err, test.err)
				}
				return
			}
			if test.ok {
				test.want.text = test.text
			}
			if got != test.want || ok != test.ok || err != nil {
				t.Errorf("%+v, %t, %v; want %+v, %t", got, ok, err, test.want, test.ok)
			}
		})
	}
}

func FuzzParsePlace(f *testing.F) {
	for _, text := range []string{"main.f+0x1a", "main.f+26", "store.go:42", "/a/b.s:1", "main.(*T).M+0x", "x+0x1.go:3", "a.go:b.go:7", "c++0x1", "main.*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok, err := parsePlace(text)
		if !ok {
			if p != (place{}) {
				t.Errorf("%q is no place, but %+v", text, p)
			}
			return
		}
		if err != nil || p.text != text || (p.function == "") == (p.file == "") || p.file != "" && p.line <= 0 {
			t.Fatalf("%q: %+v, %v", text, p, err)
		}
		// What it means can be written again, and means the same.
		again := fmt.Sprintf("%s:%d", p.file, p.line)
		if p.function != "" {
			again = fmt.Sprintf("%s+%#x", p.function, p.offset)
		}
		q, ok, err := parsePlace(again)
		p.text = again
		if q != p || !ok || err != nil {
			t.Errorf("%q: %+v; again as %q: %+v, %t, %v", text, p, again, q, ok, err)
		}
	})
}

// lineOf returns the number of the line of testdata/lines/store.go that ends in a mark.
func lineOf(t *testing.T, mark string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", "lines", "store.go"))
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(strings.Split(string(text), "\n"), func(l string) bool { return strings.HasSuffix(l, "// mark: "+mark) })
	if n < 0 {
		t.Fatalf("no mark %q", mark)
	}
	return n + 1
}

func TestResolvePlace(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	resolve := func(t *testing.T, text string) ([]spot, error) {
		t.Helper()
		p, ok, err := parsePlace(text)
		if !ok || err != nil {
			t.Fatalf("parse %q: %t, %v", text, ok, err)
		}
		spots, skipped, err := p.resolve(b)
		if len(skipped) > 0 {
			t.Errorf("%s: skipped %v", text, skipped)
		}
		return spots, err
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
			spots, err := resolve(t, fmt.Sprintf("%s+%d", name, at))
			if err != nil || len(spots) != 1 {
				t.Fatalf("%s: %d spots, %v", name, len(spots), err)
			}
			s := spots[0]
			if want := fmt.Sprintf("main.(*store).frame+%#x", at); s.label != want || s.fn != frame || s.site != sites.Entry || s.again {
				t.Errorf("%s: %q at %#x, again %t; want %q at %#x", name, s.label, s.site.Addr(), s.again, want, sites.Entry.Addr())
			}
		}
	})
	t.Run("offset before the stack check is executed again", func(t *testing.T) {
		spots, err := resolve(t, "main.store.frame+0")
		if err != nil || len(spots) != 1 || !spots[0].again || spots[0].site.Addr() != frame.Addr {
			t.Errorf("%+v, %v", spots, err)
		}
	})
	t.Run("line of a function's start is where its calls begin", func(t *testing.T) {
		line := lineOf(t, "frame start")
		spots, err := resolve(t, fmt.Sprintf("store.go:%d", line))
		if err != nil || len(spots) != 1 {
			t.Fatalf("%d spots, %v", len(spots), err)
		}
		if s := spots[0]; s.site != sites.Entry || s.label != fmt.Sprintf("store.go:%d", line) || s.again {
			t.Errorf("%q at %#x; want %#x", s.label, s.site.Addr(), sites.Entry.Addr())
		}
	})
	t.Run("line of an inlined function", func(t *testing.T) {
		line := lineOf(t, "double")
		spots, err := resolve(t, fmt.Sprintf("lines/store.go:%d", line))
		var in []string
		for _, s := range spots {
			in = append(in, s.fn.Name)
			if want := fmt.Sprintf("store.go:%d (%s+%#x)", line, s.fn.Name, s.site.Addr()-s.fn.Addr); s.label != want {
				t.Errorf("label %q, want %q", s.label, want)
			}
		}
		if want := []string{"main.double", "main.(*store).put", "main.(*store).put"}; !slices.Equal(in, want) || err != nil {
			t.Errorf("in %q, %v; want %q", in, err, want)
		}
	})

	reset := lineOf(t, "put reset")
	for _, test := range []struct {
		name, text string
		code       int
		want       string
	}{
		{"within an instruction", "main.store.put+0x2", cli.ExitNothing, "main.(*store).put+0x2: not where an instruction begins; nearest: +0x1, +0x4"},
		{"beyond the function", "main.store.put+0x9999", cli.ExitNothing, "beyond the function's"},
		{"no function", "main.store.pit+0", cli.ExitNothing, `no function matches "main.store.pit"; nearest: main.(*store).put`},
		{"inlined function", "main.(*store).at+0", cli.ExitNothing, "no code of its own"},
		{"many functions", "main.store.*+0", cli.ExitUsage, "main.store.*+0: 3 functions of that name: main.(*store).put at "},
		{"line without code", fmt.Sprintf("store.go:%d", reset-1), cli.ExitNothing, fmt.Sprintf("store.go:%d: no code; nearest: %d, %d", reset-1, lineOf(t, "put if"), reset)},
		{"no file", "nosuch.go:1", cli.ExitNothing, "nosuch.go:1: no code of such a file"},
		{"several files", "type.go:1", cli.ExitFailed, "files of that name: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			spots, err := resolve(t, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%+v, %v; want %q", spots, err, test.want)
			}
			if code, _ := cli.ExitStatus(err); code != test.code {
				t.Errorf("exit status %d, want %d", code, test.code)
			}
		})
	}
}
