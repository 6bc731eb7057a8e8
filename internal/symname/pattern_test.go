package symname

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestReadPattern(t *testing.T) {
	tests := []struct {
		scenario, text string
		read           reader
		err            string // "" if it compiles
	}{
		{"empty glob", "", parseGlob, `pattern "": empty`},
		{"invalid glob", "main.\xff", parseGlob, `pattern "main.\xff": invalid UTF-8`},
		{"bad regexp", "main.(", parseRegexp, `pattern "main.(": missing closing ): "main.("`},
		{"control characters are quoted", "a\x1b[2J(", parseRegexp, `pattern "a\x1b[2J(": missing closing ]: "[2J("`},
		{"a bracket is literal in a glob", "main.Map[", parseGlob, ""},
		{"a parenthesis is literal in a glob", "main.(*T", parseGlob, ""},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			p, err := tt.read(tt.text)
			if tt.err == "" {
				if err != nil || p.String() != tt.text {
					t.Errorf("got %q, %v", p, err)
				}
				return
			}
			if err == nil || err.Error() != tt.err {
				t.Errorf("got error %v, want %s", err, tt.err)
			}
			if p.match(&spellings{symbol: tt.text}) {
				t.Error("the pattern of an error matches")
			}
		})
	}
}

func TestPatternMatch(t *testing.T) {
	glob := func(text string, yes, no []string) func(*testing.T) { return matches(text, parseGlob, yes, no) }
	re := func(text string, yes, no []string) func(*testing.T) { return matches(text, parseRegexp, yes, no) }
	type names = []string
	tests := []struct {
		scenario string
		check    func(*testing.T)
	}{
		{"plain name", glob("main.run", names{"main.run"}, names{"main.running", "xmain.run", "main.run.func1"})},
		{"method without star", glob("main.Store.Get", names{"main.Store.Get", "main.(*Store).Get"},
			names{"main.(*KVStore).Get", "main.(*Store).Get-fm", "main.(*Store).GetAll"})},
		{"method with star", glob("main.(*Store).Get", names{"main.(*Store).Get"}, names{"main.Store.Get", "main.(*KVStore).Get"})},
		{"any pointer receiver", glob("main.(*).Get", names{"main.(*Store).Get", "main.(*Tree[go.shape.int]).Get"}, names{"main.Store.Get"})},
		{"methods of a type", glob("net/http.Client.*", names{"net/http.(*Client).Do", "net/http.Client.Do", "net/http.(*Client).do.func1"},
			names{"net/http.(*ClientConn).Do", "net/http.Get"})},
		{"end of a name", glob("*Store.Get", names{"main.(*Store).Get", "main.KVStore.Get", "a/b.(*Store[go.shape.int]).Get"}, names{"main.(*Store).Len"})},
		{"star crosses slashes", glob("*sync*", names{"sync.(*Mutex).Lock", "internal/sync.F", "sync/atomic.AddInt32"}, names{"main.Map[go.shape.struct { sync.Mutex }]", "main.run"})},
		{"question mark for what shells dislike", glob("main.??Store?.Get", names{"main.(*Store).Get"}, names{"main.Store.Get"})},
		{"instances", glob("main.Map", names{"main.Map[go.shape.int]", "main.Map[go.shape.int_0]", "main.Map[...]", "main.Map[int8,main.T]", "main.Map" + tagged},
			names{"main.Map[go.shape.int].func1", "main.MapX[go.shape.int]", "main.Map2"})},
		{"pointer method of instances", glob("main.(*Stack).Push", names{"main.(*Stack[go.shape.int]).Push"}, names{"main.Stack[go.shape.int].Push"})},
		{"closure of instances", glob("main.Map.func1", names{"main.Map[go.shape.int].func1", "main.Map[...].func1"}, names{"main.Map[go.shape.int]"})},
		{"traceback spelling", glob("main.Map[...]", names{"main.Map[go.shape.int]", "main.Map[...]", "main.Map[go.shape.int_0]"}, names{"main.Mapper"})},
		{"one type argument", glob("main.Map[int]", names{"main.Map[go.shape.int]", "main.Map[go.shape.int_0]", "main.Map[int]"},
			names{"main.Map[go.shape.int8]", "main.Map[go.shape.int,go.shape.int]", "main.Map[go.shape.int].func1", "main.Map[...]"})},
		{"type argument of a method", glob("main.Stack[int].Push", names{"main.(*Stack[go.shape.int]).Push", "main.Stack[go.shape.int].Push"}, names{"main.(*Stack[go.shape.string]).Push"})},
		{"two type arguments", glob("main.Tree[string, int].Get", names{"main.(*Tree[go.shape.string,go.shape.int]).Get", "main.(*Tree[go.shape.string_0,go.shape.int_1]).Get"}, names{"main.(*Tree[go.shape.int,go.shape.string]).Get"})},
		{"type argument that ends in a number", glob("main.Map[[]main.T_1]", names{"main.Map[go.shape.[]main.T_1]", "main.Map[go.shape.[]main.T_1_0]"}, names{"main.Map[go.shape.[]main.T]"})},
		{"struct argument with a bracket in its tag", glob(`main.Tree[string,struct { A int "json:\"a]]b.(*c\""; B [3]int }].Get`, names{"main.(*Tree" + tagged + ").Get"}, names{"main.(*Tree[go.shape.string]).Get"})},
		{"star in a type argument", glob("main.Map[*Store]", names{"main.Map[go.shape.*main.Store]", "main.Map[main.Store]"}, names{"main.Map[go.shape.int]"})},
		{"shape as typed", glob("main.Map[go.shape.int]", names{"main.Map[go.shape.int]", "main.Map[go.shape.int_0]"}, names{"main.Map[go.shape.string]"})},
		{"open bracket", glob("main.Map[go.shape.i*", names{"main.Map[go.shape.int]"}, names{"main.Map[go.shape.string]"})},
		{"bracket is no character class", glob("main.[MN]ap", nil, names{"main.Map", "main.Nap"})},
		{"escaped path, typed plainly", glob("gopkg.in/yaml.v3.Unmarshal", names{"gopkg.in/yaml%2ev3.Unmarshal"}, names{"gopkg.in/yaml%2ev2.Unmarshal"})},
		{"escaped path in a type argument", glob("main.Map[gopkg.in/yaml.v3.Node]", names{"main.Map[go.shape.gopkg.in/yaml%2ev3.Node]"}, nil)},
		{"pclntab's middle dot", glob("main.init.1", names{"main.init.1", "main.init·1"}, names{"main.init.0"})},
		{"unnamed struct", glob("go:struct { *main.Store; X int }.Len", names{"go:struct { *main.Store; X int }.Len"}, nil)},

		{"regexp is not anchored", re("Store", names{"main.(*Store).Get", "main.KVStore.Get"}, names{"main.run"})},
		{"regexp on the symbol", re(`\(\*Store\)`, names{"main.(*Store).Get"}, names{"main.Store.Get"})},
		{"regexp on the plain spelling", re(`^main\.Store\.Get$`, names{"main.(*Store).Get", "main.(*Store[go.shape.int]).Get"}, names{"main.(*Store).Gets"})},
		{"regexp on type arguments", re(`\[go\.shape\.int`, names{"main.Map[go.shape.int]"}, names{"main.Map[go.shape.string]"})},
		{"regexp on escaped path", re(`yaml\.v3\.U`, names{"gopkg.in/yaml%2ev3.Unmarshal"}, names{"gopkg.in/yaml%2ev2.Unmarshal"})},
		{"regexp on the spelling without arguments", re(`^main\.\(\*Store\)\.Get$`, names{"main.(*Store[go.shape.int]).Get"}, names{"main.Store.Get"})},
		{"regexp on escaped path in a type argument", re(`^main\.Map\[.*yaml\.v3`, names{"main.Map[go.shape.gopkg.in/yaml%2ev3.Node]"}, nil)},
		{"regexp with escape", re(`yaml%2ev3`, names{"gopkg.in/yaml%2ev3.Unmarshal"}, nil)},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, tt.check)
	}
}

func matches(text string, read reader, yes, no []string) func(*testing.T) {
	return func(t *testing.T) {
		p := compile(t, read, text)[0]
		for _, name := range yes {
			if !p.match(&spellings{symbol: name}) {
				t.Errorf("%s does not match %s", p, name)
			}
		}
		for _, name := range no {
			if p.match(&spellings{symbol: name}) {
				t.Errorf("%s matches %s", p, name)
			}
		}
	}
}

// reader is parseGlob or parseRegexp.
type reader func(text string) (Pattern, error)

func compile(t testing.TB, read reader, texts ...string) (patterns []Pattern) {
	t.Helper()
	for _, text := range texts {
		p, err := read(text)
		fixture.NoError(t, err)
		patterns = append(patterns, p)
	}
	return patterns
}

func TestSelect(t *testing.T) {
	all := []string{
		"main.(*KVStore).Get",
		"main.(*Store).Get",
		"main.Store.Len",
		"main.(*Store).Len", // the wrapper of main.Store.Len
		"main.run",
		"main.Map[int]",
		"main.Map[go.shape.int]",
		"main.Map[go.shape.int].func1",
		"gopkg.in/yaml%2ev3.(*D).Do",
		"gopkg.in/yaml%2ev3.D.Do",
		"runtime.memmove",
		"runtime.memmove",
		"printf",
		"vprintf",
	}
	type texts = []string
	tests := []struct {
		scenario                           string
		read                               reader
		include, exclude, names, unmatched texts
	}{
		{"order of the names", parseGlob, texts{"main.run", "main.(*Store).Get", "main.(*KVStore).Get"}, nil,
			texts{"main.(*KVStore).Get", "main.(*Store).Get", "main.run"}, nil},
		{"no duplicates", parseGlob, texts{"main.r*", "main.run", "*.run"}, nil, texts{"main.run"}, nil},
		{"value method and its wrapper", parseGlob, texts{"main.Store.Len"}, nil, texts{"main.Store.Len", "main.(*Store).Len"}, nil},
		{"shell-safe glob takes both", parseGlob, texts{"main.Store.L*"}, nil, texts{"main.Store.Len", "main.(*Store).Len"}, nil},
		{"exact instance", parseGlob, texts{"main.Map[int]"}, nil, texts{"main.Map[int]"}, nil},
		{"exact name typed without escapes", parseGlob, texts{"gopkg.in/yaml.v3.D.Do"}, nil, texts{"gopkg.in/yaml%2ev3.(*D).Do", "gopkg.in/yaml%2ev3.D.Do"}, nil},
		{"all functions of one name", parseGlob, texts{"runtime.memmove"}, nil, texts{"runtime.memmove", "runtime.memmove"}, nil},
		{"exclusion", parseGlob, texts{"main.*Store*"}, texts{"*.Get"}, texts{"main.Store.Len", "main.(*Store).Len"}, nil},
		{"exact exclusion", parseGlob, texts{"main.Store.*"}, texts{"main.Store.Len"}, texts{"main.(*Store).Get"}, nil},
		{"exclusion of everything is no mismatch", parseGlob, texts{"main.run"}, texts{"main.*"}, nil, nil},
		{"unmatched in the order given", parseGlob, texts{"nosuch", "main.run", "main.nosuch"}, texts{"absent"}, texts{"main.run"}, texts{"nosuch", "main.nosuch"}},
		{"regexp is never an exact name", parseRegexp, texts{"printf"}, nil, texts{"printf", "vprintf"}, nil},
		{"regexp excludes", parseRegexp, texts{"^main"}, texts{"Store|Map"}, texts{"main.run"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			selected, unmatched := Select(slices.Values(all), compile(t, tt.read, tt.include...), compile(t, tt.read, tt.exclude...))
			var names, missing []string
			indexes := slices.Concat(selected...)
			slices.Sort(indexes)
			for _, i := range slices.Compact(indexes) {
				names = append(names, all[i])
			}
			for _, i := range unmatched {
				missing = append(missing, tt.include[i])
			}
			if !slices.Equal(names, tt.names) {
				t.Errorf("selected %q, want %q", names, tt.names)
			}
			if !slices.Equal(missing, tt.unmatched) {
				t.Errorf("unmatched %q, want %q", missing, tt.unmatched)
			}
		})
	}
}

// TestSelectLinked selects names of the current toolchain.
func TestSelectLinked(t *testing.T) {
	names := linkedNames(t)
	for text, want := range map[string][]string{
		"main.Tree.Get": {
			"main.(*Tree" + tagged + ").Get",
			"main.(*Tree[go.shape.[2]main.Store,go.shape.func(int, ...string) error]).Get"},
		"main.Map": {"main.Map[go.shape.int]", "main.Map[go.shape.string]",
			"main.Map[go.shape.struct { github.com/ftgo/ftgo/testdata/names/yaml%2ev3.n int }]"},
		"main.Map[string].*":  {"main.Map[go.shape.string].func1"},
		"*/yaml.v3.Decoder.*": {"github.com/ftgo/ftgo/testdata/names/yaml%2ev3.(*Decoder).Decode"},
	} {
		selected, unmatched := Select(slices.Values(names), compile(t, parseGlob, text), nil)
		var got []string
		for _, i := range selected[0] {
			got = append(got, names[i])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(unmatched) > 0 {
			t.Errorf("%s selects %q, want %q", text, got, want)
		}
	}
	for _, name := range names {
		if !compile(t, parseGlob, name)[0].match(&spellings{symbol: name}) {
			t.Errorf("%s does not match itself", name)
		}
	}
}

// FuzzGlob compares globs and names without "(" and "[" with a simple matcher.
func FuzzGlob(f *testing.F) {
	for _, glob := range []string{"main.*", "*a?b*c", "m*n.*t*e.G*t", "main*.run*", "*", "main.?tore.Ge?", "main.M?", "*o?e.G?t", "*t?r*"} {
		for _, name := range []string{"main.run", "xaébbc", "main.Store.Get", "main.tore.Get", "main.Mé", "main.Méé", "main.Stoe.Get", "main.ttxr"} {
			f.Add(glob, name)
		}
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := parseGlob(text)
		if err != nil || len(text)+len(name) > 100 || strings.Count(text, "*") > 3 || strings.ContainsAny(text+name, "([{%·") || !utf8.ValidString(name) {
			return
		}
		if got, want := p.match(&spellings{symbol: name}), globMatches([]rune(text), []rune(name)); got != want {
			t.Errorf("%q matches %q: got %v, want %v", text, name, got, want)
		}
	})
}

func globMatches(glob, name []rune) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == '*':
		return globMatches(glob[1:], name) || len(name) > 0 && globMatches(glob, name[1:])
	}
	return len(name) > 0 && (glob[0] == '?' || glob[0] == name[0]) && globMatches(glob[1:], name[1:])
}

func parseGlob(text string) (Pattern, error) { return Compile(text, false) }

func parseRegexp(text string) (Pattern, error) { return Compile(text, true) }
