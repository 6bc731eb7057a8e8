package target

import (
	"fmt"
	"go/token"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// spell formats a FUNC that lists values, or returns "".
func (a funcArg) spell() string {
	if !a.listed {
		return ""
	}
	values, takes := a.params, ""
	if a.hasSignature {
		values, takes = nil, fmt.Sprintf(" takes %v gives %v", given(a.params), given(a.results))
	}
	var b strings.Builder
	b.WriteString(a.pattern.String())
	for _, s := range values {
		switch {
		case s.Path != "":
			fmt.Fprintf(&b, " path %s as %s", s.Path, s.Name)
		case s.Fetch != "":
			fmt.Fprintf(&b, " fetch %s:%s as %s", s.Fetch, s.Type, s.Name)
		default:
			arg, result := s.register, 0
			if s.Result {
				arg, result = 0, s.register
			}
			fmt.Fprintf(&b, " arg %d result %d %s", arg, result, s.Type)
			if s.through != nil {
				fmt.Fprintf(&b, " through %v", s.through)
			}
			fmt.Fprintf(&b, " as %s", s.Name)
		}
	}
	if a.noResults {
		b.WriteString(" no results")
	}
	return b.String() + takes
}

// given formats parameters or results.
func given(list []selection) (texts []string) {
	for _, v := range list {
		texts = append(texts, "{"+v.Name+" "+v.Type+"}")
	}
	return texts
}

func TestParseFunc(t *testing.T) {
	tests := []struct{ text, want string }{
		{`main.get`, ``},
		{`main.(*T).Get`, ``},
		{`main.*`, ``},
		{`main.(*T*`, ``},
		{`(*Store).Get`, ``},
		{`main.(*G[go.shape.int]).Get`, ``},
		{`go:struct { main.T }.Method`, ``},
		{`ns::(anonymous namespace)::f`, ``},
		{`main.get()`, `main.get`},
		{`main.get(key, n)`, `main.get path key as key path n as n`},
		{`main.(*T).Get(t, *p)`, `main.(*T).Get path t as t path *p as *p`},
		{`main.f(req.URL.Path,s.items[0].name,**p.x[1][2])`, `main.f path req.URL.Path as req.URL.Path path s.items[0].name as s.items[0].name path **p.x[1][2] as **p.x[1][2]`},
		{`main.(*G[go.shape.struct { A int; B func() }]).Get(key)`, `main.(*G[go.shape.struct { A int; B func() }]).Get path key as key`},
		{`main.Map[go.shape.struct { A int "json:\"a)\"" }](key)`, `main.Map[go.shape.struct { A int "json:\"a)\"" }] path key as key`},
		{`main.f(key, _) (_, _, err)`, `main.f path key as key path err as err`},
		{`main.f(_ int, key string) (_ int, _ error)`, `main.f takes [{p0 int} {key string}] gives [{r0 int} {r1 error}]`},
		{`main.get(goarg1, goret2)`, `main.get arg 1 result 0 int as goarg1 arg 0 result 2 int as goret2`},
		{`main.get(key=goarg1:string, n = goarg3)`, `main.get arg 1 result 0 string as key arg 3 result 0 int as n`},
		{`main.get(key, m=goarg3:map[string]int)`, `main.get path key as key arg 3 result 0 map[string]int as m`},
		{`main.get(+56(+0x10(goarg4)):string, k=-8(goret1))`, `main.get arg 4 result 0 string through [16 56] as +56(+0x10(goarg4)) arg 0 result 1 int through [-8] as k`},
		{`main.get(req.Header["X, Id"][0], m["a=b:c (d"], rw.(*http.response).status)`, `main.get path req.Header["X, Id"][0] as req.Header["X, Id"][0] path m["a=b:c (d"] as m["a=b:c (d"] path rw.(*http.response).status as rw.(*http.response).status`},
		{`main.get(goarg4.(*http.Request).URL, *goarg1:*int)`, `main.get path goarg4.(*http.Request).URL as goarg4.(*http.Request).URL path *goarg1:*int as *goarg1:*int`},
		{`main.get(k=%r15:u8, j=-0x10(+8(%sp)):s32, i=@0x4a0000:u16, h=@+4096)`, `main.get fetch %r15:u8 as k fetch -0x10(+8(%sp)):s32 as j fetch @0x4a0000:u16 as i fetch @+4096:x64 as h`},
		{`main.(*T).Get(t ptr, key string, n int) (v string, err error)`, `main.(*T).Get takes [{t ptr} {key string} {n int}] gives [{v string} {err error}]`},
		{`main.get() (int, chan int, func(a int) (int, error))`, `main.get takes [] gives [{r0 int} {r1 chan int} {r2 func(a int) (int, error)}]`},
		{`main.get(a, b int, c string)`, `main.get takes [{a int} {b int} {c string}] gives []`},
		{`main.get(key) (n, err)`, `main.get path key as key path n as n path err as err`},
		{`main.get(key) res.Status`, `main.get path key as key path res.Status as res.Status`},
		{`main.get(main.T) *main.U`, `main.get takes [{p0 main.T}] gives [{r0 *main.U}]`},
		{`malloc(size_t) ptr`, `malloc takes [{p0 size_t}] gives [{r0 ptr}]`},
		{`main.get(key) -`, `main.get path key as key no results`},
		{`main.get(k=goarg1) -`, `main.get arg 1 result 0 int as k no results`},
		{`main.get(chan int)`, `main.get takes [{p0 chan int}] gives []`},
		{`main.get(f func(int, string) (int, error), m map[string] int, a ...any)(n int)`, `main.get takes [{f func(int, string) (int, error)} {m map[string] int} {a ...any}] gives [{n int}]`},
		{`main.get(s struct { A, B int })  `, `main.get takes [{s struct { A, B int }}] gives []`},
		{"main.get (x\tint)", `main.get takes [{x int}] gives []`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			a, err := parseFunc(tt.text, false, true)
			fixture.NoError(t, err)
			if a.spell() != tt.want {
				t.Errorf("got  %s\nwant %s", a.spell(), tt.want)
			}
		})
	}
}

func TestParseFuncErrors(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("+0(", n) + "%ax" + strings.Repeat(")", n) }
	tests := []struct{ text, want string }{
		{`main.get(key`, `parse function "main.get(key": ( without )`},
		{`main.get(key,)`, `parse function "main.get(key,)": nothing between commas in "key,"`},
		{`main.get(key string) -`, `parse function "main.get(key string) -": - leaves out results where parameters are names, without types`},
		{`main.get(key, key)`, `two are called "key"`},
		{`main.get(key int, key string)`, `two are called "key"`},
		{`main.get(k=x)`, `"k=x" is neither goargN, goretN nor a fetcharg with a name, as in k=+0(%bx)`},
		{`main.get(a b=goarg1)`, `"a b" is not a name`},
		{`main.get(goarg0)`, `goarg0: registers are numbered from 1`},
		{`main.get(x=goret99999999999999999999)`, `goret99999999999999999999: registers are numbered from 1`},
		{`main.get(x=goarg1:)`, `type expected behind "goarg1:"`},
		{`main.get(%ax)`, `"%ax" is neither goargN, goretN nor a fetcharg with a name, as in k=+0(%bx)`},
		{`main.get(s.)`, `"s." is not a variable or a part of one: name expected`},
		{`main.get(s[i])`, `"s[i]" is not a variable or a part of one: index or key in quotes expected`},
		{`main.get(a.b int, c int)`, `"a.b int" is not a name and a type`},
		{`main.get(a int, b)`, `"b" has no type`},
		{`main.get(k=%rax:u64)`, `"%rax" is not a fetcharg: "%rax" is neither a register such as %bx nor an address`},
		{`main.get(k=+0(%ax:u64)`, `( without )`},
		{`main.get(k=+0()):u64)`, ``},
		{`main.get(k=+0(%ax) p:x:u64)`, `"+0(%ax) p" is not a fetcharg: "+0(%ax) p" is neither a register such as %bx nor an address`},
		{"main.get(k=%ax\n:u64)", `"%ax\n" is not a fetcharg: "%ax\n" is neither a register such as %bx nor an address`},
		{`main.get(k=%ax:string)`, `unknown type "string" of fetcharg "%ax" (want u8, s16, x64 …)`},
		{`main.get(k=@runtime.g:u64)`, `"@runtime.g" is not a fetcharg: "@runtime.g" is neither a register such as %bx nor an address`},
		{`main.get(k=` + deep(15) + `:u8)`, `fetcharg "` + deep(15) + `" is too long for the kernel`},
		{`main.get(k=+0x12345678(+0x12345678(+0x12345678(+0x12345678(%ax)))):u8)`, `is too long for the kernel`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			a, err := parseFunc(tt.text, false, true)
			if tt.want == "" {
				if a.listed || err != nil {
					t.Errorf("%s, %v", a.spell(), err)
				}
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := parseFunc(`main.get(k=`+deep(12)+`:u8)`, false, true); err != nil {
		t.Errorf("twelve pointers: %v", err)
	}
}

func FuzzParseFunc(f *testing.F) {
	for _, seed := range []string{
		`main.(*T).Get(t ptr, key string, n int) (v string, err error)`, `main.get(key, s.items[0].name, *p)`,
		`main.get(k=+0(%ax):x64, j=@+16:u8, x=goret1:int)`, `main.(*G[go.shape.int]).Get(a, b chan int) error`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseFunc(text, false, true)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
			return
		}
		for _, s := range a.params {
			if strings.ContainsAny(s.Fetch, " \t\n=:#;\\$\"") || s.Fetch != "" && !fetchType.MatchString(s.Type) {
				t.Errorf("%q puts %q:%q into a definition", text, s.Fetch, s.Type)
			}
		}
		if !a.hasSignature {
			return
		}
		for _, v := range append(a.params, a.results...) {
			if !token.IsIdentifier(v.Name) || v.Type == "" {
				t.Errorf("%q has a variable %q of type %q", text, v.Name, v.Type)
			}
			gotype.Parse(v.Type, noType)
		}
	})
}
