package capture

import (
	"slices"
	"testing"
)

func TestParsePath(t *testing.T) {
	for _, c := range []struct {
		text  string
		steps []string
		err   string
	}{
		{"n", []string{"n"}, ""},
		{"größe", []string{"größe"}, ""},
		{"req.URL.Path", []string{"req", "URL", "Path"}, ""},
		{"s.items[0].name", []string{"s", "items", "[0]", "name"}, ""},
		{"**p.x[1][02]", []string{"p", "x", "[1]", "[2]", "*", "*"}, ""},
		{"", nil, "name expected"},
		{"*", nil, "name expected"},
		{"s.", nil, "name expected"},
		{"p..n", nil, "name expected"},
		{"3", nil, "name expected"},
		{"&s", nil, "name expected"},
		{"s[i]", nil, "index or key in quotes expected"},
		{"s['a']", nil, "index or key in quotes expected"},
		{"s[1-]", nil, "] expected"},
		{"s[--1]", nil, "index or key in quotes expected"},
		{"s[99999999999999999999]", nil, "index or key in quotes expected"},
		{"m[-1]", []string{"m", "[-1]"}, ""},
		{"m[18446744073709551615]", []string{"m", "[18446744073709551615]"}, ""},
		{`req.Header["X-Request-Id"][0]`, []string{"req", "Header", `["X-Request-Id"]`, "[0]"}, ""},
		{"m[`a]\" .[b`]", []string{"m", `["a]\" .[b"]`}, ""},
		{`m["a]`, nil, "index or key in quotes expected"},
		{"rw.(*http.response).status", []string{"rw", "(*http.response)", "status"}, ""},
		{"*x.(map[string]func(int) (a, b))", []string{"x", "(map[string]func(int) (a, b))", "*"}, ""},
		{"x.(int", nil, "name expected"},
		{"(x).y", nil, "name expected"},
		{"goarg2", []string{"goarg2"}, ""},
		{"goarg2x.y", []string{"goarg2x", "y"}, ""},
		{"goarg2:string", []string{"goarg2:string"}, ""},
		{"goarg2:[]*net/http.Request[0]", []string{"goarg2:[]*net/http.Request", "[0]"}, ""},
		{"+56(+0x10(goarg4)):map[string][]byte", []string{"+56(+0x10(goarg4)):map[string][]byte"}, ""},
		{"-8(goret1).(*T).x", []string{"-8(goret1)", "(*T)", "x"}, ""},
		{"+8(n)", nil, "name expected"},
		{"+8(goarg1", nil, "name expected"},
		{"goarg1:", nil, "[ or . expected"},
		{"s[1", nil, "] expected"},
		{"s[1]x", nil, "[ or . expected"},
		{"s .x", nil, "[ or . expected"},
		{"len(s)", nil, "[ or . expected"},
		{"label:otel.trace-id/x", []string{"label:otel.trace-id/x"}, ""},
		{`label:"span \"id"`, []string{`label:"span \"id"`}, ""},
		{"label.x", []string{"label", "x"}, ""},
		{"label:", nil, "[ or . expected"},
	} {
		steps, err := ParsePath(c.text)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(steps, c.steps) {
			t.Errorf("%q: %q, %v", c.text, steps, err)
		}
	}
}

func FuzzScanPath(f *testing.F) {
	for _, text := range []string{"n", "s.items[0].name == 3", "* p . x [ 1 ]", "a[", "9", `m["k"].(*T).x`, "+8(goarg1):*int", "größe.Ⅻ", `label:"a b"[0]`} {
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
		// The path can be formatted, and parsed again.
		again, err := ParsePath(JoinPath(p))
		if err != nil || !slices.Equal(again, p) || RootOf(text) != p[0] {
			t.Errorf("%q: %q, again %q, %v", text, p, again, err)
		}
	})
}
