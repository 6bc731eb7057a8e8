package valuepath

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
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
		{"", 0, nil, "name expected at 1"},
		{"*", 0, nil, "name expected at 2"},
		{"s.", 0, nil, "name expected at 3"},
		{"p..n", 0, nil, "name expected at 3"},
		{"3", 0, nil, "name expected at 1"},
		{"&s", 0, nil, "name expected at 1"},
		{"s[i]", 0, nil, "index or key in quotes expected at 3"},
		{"s['a']", 0, nil, "index or key in quotes expected at 3"},
		{"s[1-]", 0, nil, "] expected at 4"},
		{"s[--1]", 0, nil, "index or key in quotes expected at 3"},
		{"s[99999999999999999999]", 0, nil, "index or key in quotes expected at 3"},
		{"m[-1]", 0, []string{"m", "[-1]"}, ""},
		{"m[18446744073709551615]", 0, []string{"m", "[18446744073709551615]"}, ""},
		{`req.Header["X-Request-Id"][0]`, 0, []string{"req", "Header", `["X-Request-Id"]`, "[0]"}, ""},
		{"m[`a]\" .[b`]", 0, []string{"m", `["a]\" .[b"]`}, ""},
		{`m["a]`, 0, nil, "index or key in quotes expected at 3"},
		{"rw.(*http.response).status", 0, []string{"rw", "(*http.response)", "status"}, ""},
		{"*x.(map[string]func(int) (a, b))", 1, []string{"x", "(map[string]func(int) (a, b))"}, ""},
		{"x.(int", 0, nil, "name expected at 3"},
		{"(x).y", 0, nil, "name expected at 1"},
		{"goarg2", 0, []string{"goarg2"}, ""},
		{"goarg2x.y", 0, []string{"goarg2x", "y"}, ""},
		{"goarg2:string", 0, []string{"goarg2:string"}, ""},
		{"goarg2:[]*net/http.Request[0]", 0, []string{"goarg2:[]*net/http.Request", "[0]"}, ""},
		{"+56(+0x10(goarg4)):map[string][]byte", 0, []string{"+56(+0x10(goarg4)):map[string][]byte"}, ""},
		{"-8(goret1).(*T).x", 0, []string{"-8(goret1)", "(*T)", "x"}, ""},
		{"+8(n)", 0, nil, "name expected at 1"},
		{"+8(goarg1", 0, nil, "name expected at 1"},
		{"goarg1:", 0, nil, "[ or . expected at 7"},
		{"s[1", 0, nil, "] expected at 4"},
		{"s[1]x", 0, nil, "[ or . expected at 5"},
		{"s .x", 0, nil, "[ or . expected at 5"},
		{"len(s)", 0, nil, "[ or . expected at 4"},
	} {
		p, err := Parse(c.text)
		if c.err != "" {
			wrong := (*Error)(nil)
			if !errors.As(err, &wrong) || fmt.Sprintf("%v at %d", err, wrong.At+1) != c.err {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || p.Stars != c.stars || !slices.Equal(p.Steps, c.steps) {
			t.Errorf("%q: %+v, %v", c.text, p, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{"n", "s.items[0].name == 3", "* p . x [ 1 ]", "a[", "9", `m["k"].(*T).x`, "+8(goarg1):*int", "größe.Ⅻ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, n, err := Scan(text)
		if n < 0 || n > len(text) || err == nil && n == 0 {
			t.Fatalf("%q: %d bytes, %v", text, n, err)
		}
		if err != nil {
			return
		}
		// What was read can be written, and read again.
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() || Root(text) != p.Steps[0] {
			t.Errorf("%q: %+v, again %+v, %v", text, p, again, err)
		}
	})
}
