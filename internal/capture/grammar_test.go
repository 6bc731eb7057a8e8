package capture

import (
	"slices"
	"testing"
)

func TestParsePath(t *testing.T) {
	for _, c := range []struct {
		text  string
		stars int
		steps []string
		err   string
	}{
		{"n", 0, []string{"n"}, ""},
		{"größe", 0, []string{"größe"}, ""},
		{"req.URL.Path", 0, []string{"req", "URL", "Path"}, ""},
		{"s.items[0].name", 0, []string{"s", "items", "[0]", "name"}, ""},
		{"**p.x[1][02]", 2, []string{"p", "x", "[1]", "[2]"}, ""},
		{"", 0, nil, "name expected"},
		{"*", 0, nil, "name expected"},
		{"s.", 0, nil, "name expected"},
		{"p..n", 0, nil, "name expected"},
		{"3", 0, nil, "name expected"},
		{"&s", 0, nil, "name expected"},
		{"s[i]", 0, nil, "index or key in quotes expected"},
		{"s['a']", 0, nil, "index or key in quotes expected"},
		{"s[1-]", 0, nil, "] expected"},
		{"s[--1]", 0, nil, "index or key in quotes expected"},
		{"s[99999999999999999999]", 0, nil, "index or key in quotes expected"},
		{"m[-1]", 0, []string{"m", "[-1]"}, ""},
		{"m[18446744073709551615]", 0, []string{"m", "[18446744073709551615]"}, ""},
		{`req.Header["X-Request-Id"][0]`, 0, []string{"req", "Header", `["X-Request-Id"]`, "[0]"}, ""},
		{"m[`a]\" .[b`]", 0, []string{"m", `["a]\" .[b"]`}, ""},
		{`m["a]`, 0, nil, "index or key in quotes expected"},
		{"rw.(*http.response).status", 0, []string{"rw", "(*http.response)", "status"}, ""},
		{"*x.(map[string]func(int) (a, b))", 1, []string{"x", "(map[string]func(int) (a, b))"}, ""},
		{"x.(int", 0, nil, "name expected"},
		{"(x).y", 0, nil, "name expected"},
		{"goarg2", 0, []string{"goarg2"}, ""},
		{"goarg2x.y", 0, []string{"goarg2x", "y"}, ""},
		{"goarg2:string", 0, []string{"goarg2:string"}, ""},
		{"goarg2:[]*net/http.Request[0]", 0, []string{"goarg2:[]*net/http.Request", "[0]"}, ""},
		{"+56(+0x10(goarg4)):map[string][]byte", 0, []string{"+56(+0x10(goarg4)):map[string][]byte"}, ""},
		{"-8(goret1).(*T).x", 0, []string{"-8(goret1)", "(*T)", "x"}, ""},
		{"+8(n)", 0, nil, "name expected"},
		{"+8(goarg1", 0, nil, "name expected"},
		{"goarg1:", 0, nil, "[ or . expected"},
		{"s[1", 0, nil, "] expected"},
		{"s[1]x", 0, nil, "[ or . expected"},
		{"s .x", 0, nil, "[ or . expected"},
		{"len(s)", 0, nil, "[ or . expected"},
	} {
		p, err := ParsePath(c.text)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || p.Stars != c.stars || !slices.Equal(p.Steps, c.steps) {
			t.Errorf("%q: %+v, %v", c.text, p, err)
		}
	}
}

func FuzzScanPath(f *testing.F) {
	for _, text := range []string{"n", "s.items[0].name == 3", "* p . x [ 1 ]", "a[", "9", `m["k"].(*T).x`, "+8(goarg1):*int", "größe.Ⅻ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, n, err := ScanPath(text)
		if n < 0 || n > len(text) || err == nil && n == 0 {
			t.Fatalf("%q: %d bytes, %v", text, n, err)
		}
		if err != nil {
			return
		}
		// What was read can be written, and read again.
		again, err := ParsePath(p.String())
		if err != nil || again.String() != p.String() || RootOf(text) != p.Steps[0] {
			t.Errorf("%q: %+v, again %+v, %v", text, p, again, err)
		}
	})
}
