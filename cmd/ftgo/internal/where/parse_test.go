package where

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, want string }{
		{`n > 100 && key == "bob"`, `n > 100 && key == "bob"`},
		{"  n>100&&key==`bob`\n", `n > 100 && key == "bob"`},
		{`a || b && c`, `a || b && c`},
		{`(a || b) && c`, `(a || b) && c`},
		{`(a && b) || ((c))`, `a && b || c`},
		{`a && (b && c)`, `a && (b && c)`},
		{`!(a && !b)`, `!(a && !b)`},
		{`!!a`, `!!a`},
		{`n & 4 == 0`, `n & 4 == 0`},
		{`n & 4`, `n & 4 != 0`},
		{`!(n & 0x4) || n&1`, `!(n & 0x4 != 0) || n & 1 != 0`},
		{`a - (b - c) - d > 0`, `a - (b - c) - d > 0`},
		{`(a + b) * c % 7 > - - -5`, `(a + b) * c % 7 > ---5`},
		{`-(a + b) < -*p`, `-(a + b) < -*p`},
		{`a * **p == 1`, `a * **p == 1`},
		{`req . URL.Path =~ "^/api/"`, `req.URL.Path =~ "^/api/"`},
		{`s.items[00].name == "" || m[1][2] > 0`, `s.items[0].name == "" || m[1][2] > 0`},
		{`len(buf) > cap( *p ) && len > 3`, `len(buf) > cap(*p) && len > 3`},
		{`latency >= 10ms && ns < 1.5us && ns < 1m30s`, `latency >= 10ms && ns < 1.5us && ns < 1m30s`},
		{`n == 0x2A || n == 1_000 || n == 0b11 || n == 0o17`, `n == 0x2A || n == 1_000 || n == 0b11 || n == 0o17`},
		{`n == 18446744073709551615`, `n == 18446744073709551615`},
		{`f > 1.5 || f > 2.0 || f > 1e-9 || f < 1e+30`, `f > 1.5 || f > 2.0 || f > 1e-9 || f < 1e+30`},
		{`err != nil && ok == true && !false`, `err != nil && ok == true && !false`},
		{`s == "\x00\"\n" && s != "héllo\xff"`, `s == "\x00\"\n" && s != "héllo\xff"`},
		{`größe > 3 && x_1 == 0`, `größe > 3 && x_1 == 0`},
		{`(a == 1) == (b == 2)`, `a == 1 == (b == 2)`},
		{`req . Header [ "X-Id" ][0] == "a" && rw.(*http.response).status == 200`, `req.Header["X-Id"][0] == "a" && rw.(*http.response).status == 200`},
		{`- -8(+16(goarg1)):int > 3 && n-+0(goarg2)*2 > goret1 || goarg3:string == ""`, `--8(+16(goarg1)):int > 3 && n - +0(goarg2) * 2 > goret1 || goarg3:string == ""`},
		{`func == "main.get" && goid == 7`, `func == "main.get" && goid == 7`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			e, err := Parse(tt.text)
			fixture.NoError(t, err)
			if e.String() != tt.want {
				t.Errorf("got  %s\nwant %s", e, tt.want)
			}
			again, err := Parse(e.String())
			if err != nil || again.String() != e.String() {
				t.Errorf("reads as %q, %v the second time", again, err)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{`n >`, `parse filter: "n >": operand expected at 4`},
		{``, `parse filter: "": operand expected at 1`},
		{`n > 3 &&`, `operand expected at 9`},
		{`> 3`, `operand expected, not ">", at 1`},
		{`n > 3 m`, `operator expected, not "m", at 7`},
		{`n = 3`, `operator expected, not "=" (==?), at 3`},
		{`a | b`, `operator expected, not "|" (||?), at 3`},
		{`(n > 3`, `) expected at 7`},
		{`n > 3)`, `operator expected, not ")", at 6`},
		{`n`, ``},
		{`n + 1`, `condition expected, not a number, at 1`},
		{`42`, `condition expected, not a number, at 1`},
		{`"x"`, `condition expected, not a string, at 1`},
		{`nil`, `condition expected, not nil, at 1`},
		{`n > 3 && 4`, `true or false expected for &&, not a number, at 10`},
		{`ä > "" && "ö" > 3`, `a string can't be compared with a number at 15`},
		{`n == nil == nil`, `true or false can't be compared with nil at 10`},
		{`1 < n < 3`, `true or false can't be compared with a number at 7`},
		{`(a > 1) < (b > 1)`, `true or false has no order: < at 9`},
		{`3 == nil`, `a number can't be compared with nil at 3`},
		{`n < nil`, `a value can't be compared with nil at 3`},
		{`-"x" == 3`, `a number expected for -, not a string, at 2`},
		{`n % 1.5 == 0`, `a number expected for %, not a number, at 5`},
		{`1 =~ "x"`, `a string expected for =~, not a number, at 1`},
		{`s =~ "t" + u`, `regular expression in quotes expected at 6`},
		{`s =~ t`, `regular expression in quotes expected at 6`},
		{`s =~ "("`, `missing closing ): "(" at 6`},
		{"s =~ `(\n`", `missing closing ): "(\n" at 6`},
		{`s == "abc`, `string does not end or has a bad escape at 6`},
		{`s == "\q"`, `string does not end or has a bad escape at 6`},
		{`n == 0x`, `bad number "0x" at 6`},
		{`n == 12abc`, `bad number "12abc" at 6`},
		{`n == 18446744073709551616`, `number 18446744073709551616 is beyond 64 bits at 6`},
		{`n == 1e999`, `number 1e999 is out of range at 6`},
		{`a. == 3`, `name expected, not "==", at 4`},
		{`a.3 == 3`, `name expected, not "3", at 3`},
		{`a[i] == 3`, `index or key in quotes expected, not "i", at 3`},
		{`a[1 == 3`, `] expected, not "==", at 5`},
		{`* == 3`, `name expected, not "==", at 3`},
		{`size(x) == 3`, `no function "size" but len and cap at 1`},
		{`len(3) == 3`, `name expected, not "3", at 5`},
		{`len(x == 3`, `) expected, not "==", at 7`},
		{`n # 3`, `operator expected, not "#", at 3`},
		{"n > \xff", `operand expected, not "\xff", at 5`},
		{strings.Repeat("(", 200), `nested too deeply at 101`},
		{strings.Repeat("!", 200) + "x", `nested too deeply at 101`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := Parse(tt.text)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tt.want)):
				t.Errorf("got  %v\nwant %s", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "\n"):
				t.Errorf("%q has more than one line", err)
			}
		})
	}
}

func TestRefs(t *testing.T) {
	e, err := Parse(`n > len(*p) && (s.items[0].name == "" || n < cap(b)) && !ok && -latency < 0 && s =~ "x"`)
	fixture.NoError(t, err)
	var got []string
	for _, r := range e.Refs() {
		got = append(got, r.String())
	}
	const want = "n len(*p) s.items[0].name cap(b) ok latency s"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`n > 100 && key == "bob"`, `!(s.items[0].name =~ "^x" || len(*p) % 7 - -3 > 0x1f)`, "a & 4 || `x` == k", `ns < 1m1.5us || f > 1e-9`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "parse filter: ") {
				t.Errorf("bad message %q", err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, e, err)
		}
		if again.String() != e.String() {
			t.Fatalf("%q is written as %q, that as %q", text, e, again)
		}
		for _, r := range e.Refs() {
			if _, err := Parse(r.String() + " == 0"); err != nil {
				t.Errorf("reference %q: %v", r, err)
			}
		}
		if got, want := again.Eval(values{}), e.Eval(values{}); got != want {
			t.Errorf("%q is %v, but %v as written", text, want, got)
		}
		e.Split(func(Ref) (string, *gotype.Type, bool) { return "", nil, false })
	})
}
