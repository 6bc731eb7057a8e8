package where

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

func (t Truth) String() string { return [...]string{"false", "unknown", "true"}[t+1] }

// values are a call.
type values map[string]capture.Value

func (c values) Value(path string) *capture.Value {
	if v, ok := c[path]; ok {
		return &v
	}
	return nil
}

// Short names of values.
var basic, num, str, cutStr, iface = madeup.Basic, madeup.Num, madeup.Str, madeup.CutStr, madeup.Interface

func kind(k reflect.Kind, size int64) *gotype.Type { return madeup.Typed("T", k, size) }

func state(v capture.Value, s capture.State) capture.Value {
	return capture.Value{Type: v.Type, State: s, Len: v.Len}
}

var sample = values{
	"n": num("int", 150), "neg": num("int64", -5), "i8": num("int8", -128), "u8": num("uint8", 200), "zero": num("int", 0),
	"max": num("uint64", -1), "min": num("int64", math.MinInt64), "ok": num("bool", 1), "no": num("bool", 0),
	"f": madeup.Float64(1.5), "f32": num("float32", int64(math.Float32bits(-0.25))),
	"nan": madeup.Float64(math.NaN()), "big": madeup.Float64(1 << 63),
	"key": str("bob"), "empty": str(""), "long": cutStr("abcdefgh", 100), "rune": cutStr("ab\xc3", 9),
	"gone":  state(num("int", 1), capture.Unreadable),
	"lost":  state(str("bob"), capture.Unreadable),
	"blank": state(str(""), capture.Unreadable),
	"far":   state(num("float64", 1), capture.Unfetched),
	"odd":   {}, "z": {Type: kind(reflect.Complex128, 16)},
	"p":    {Type: kind(reflect.Pointer, 8), Num: 0xc000},
	"np":   {Type: kind(reflect.Pointer, 8)},
	"buf":  {Type: gotype.SliceOf(basic("byte")), Num: 0xc000, Bytes: []byte("GET /"), Len: 5, Cap: 8},
	"nbuf": {Type: gotype.SliceOf(basic("byte"))},
	"ints": {Type: gotype.SliceOf(basic("int")), Num: 0xc000, Len: 3, Cap: 4, Items: []capture.Value{num("int", 150)}},
	"arr":  {Type: &gotype.Type{Kind: reflect.Array, Len: 7}, State: capture.Unreadable},
	"m":    {Type: kind(reflect.Map, 8), Num: 0xc000, Len: 2}, "nm": {Type: kind(reflect.Map, 8)},
	"um": {Type: kind(reflect.Map, 8), Num: 0xc000, Len: 2, State: capture.Unreadable},
	"c":  {Type: kind(reflect.Chan, 8), Num: 0xc000, Len: 1, Cap: 2},
	"fn": {Type: kind(reflect.Func, 8), Num: 0xc000, Dynamic: "main.f"}, "nfn": {Type: kind(reflect.Func, 8)},
	"err":  madeup.ErrorString(str("not found")),
	"nerr": {Type: basic("error")},
	"uerr": {Type: basic("error"), TypeWord: 0x4000, State: capture.Unreadable},
	"serr": iface("error", capture.Value{Type: madeup.Typed("main.E", reflect.String, 16), Bytes: []byte("not found"), Len: 9}),
	"gerr": {Type: basic("error"), State: capture.Unfetched},
	"ai":   iface("any", num("int", 42)), "as": iface("any", str("x")), "ab": iface("any", num("bool", 1)),
	"ap": iface("any", capture.Value{Type: madeup.Typed("*main.T", reflect.Pointer, 8), Num: 0xc000}),
	"ns": num("int64", 12_000_000),
}

func TestEval(t *testing.T) {
	tests := []struct {
		want  Truth
		texts string // one a line
	}{
		{True, `
			n > 100 && key == "bob"
			n >= 150 && n <= 150 && n != 151 && n < 151
			100 < n && 150 == n
			neg < 0 && neg < max && min < neg && max > 0 && max != -1
			max == 18446744073709551615 && max > 9223372036854775807
			min == -9223372036854775808 && min < -9223372036854775807
			i8 == -128 && u8 == 200 && i8 < u8
			u8 != -56
			n + 1 == 151 && n - 151 == -1 && n * 2 == 300 && n / 4 == 37 && n % 4 == 2
			neg / 2 == -2 && neg % 3 == -2 && -neg == 5
			n & 2 && n & 150 == 150 && !(n & 1)
			neg & 0xff == 251 && neg & -8 == -8 && max & 1 == 1
			max + 0 == max && max - max == 0
			n == 150.0 && n > 149.5 && 150.5 > n
			f == 1.5 && f32 == -0.25 && f > f32 && f * 2 == 3 && f / 3 == 0.5 && -f < 0 && f + n > 151 && f - 1 == 0.5
			big > 9223372036854775807 && big < max && big == 9223372036854775808
			nan != nan && nan != 1 && nan != 1.5 && !(nan < 1) && !(nan >= 1)
			1e30 > max && -1e30 < min && max < 18446744073709551615.0
			f * 1e308 * 2 > max && -f * 1e308 * 2 < min && f * 1e308 * 2 == f * 1e308 * 3 && f * 1e308 * 2 != f * 1e308
			ok && !no && ok == true && no != true && ok != no
			key != "alice" && key < "bobby" && key > "alice" && empty == "" && empty < key
			key =~ "^b.b$" && key =~ "o" && !(key =~ "x")
			len(key) == 3 && len(empty) == 0 && len(long) == 100
			long != "abc" && long > "abc" && long < "b" && len(long) > 8
			long =~ "abc" && long =~ "^abc" && !(long =~ "^b")
			!(long =~ "^abd$")
			lost != "alice" && len(lost) == 3
			key[:2] == "bo" && key[:9] == "bob" && key[:2] < "c" && long[:3] == "abc" && buf [ : 3 ] =~ "^GET$" && err[:3] == "not"
			p != nil && np == nil && p == 0xc000 && np == 0
			buf == "GET /" && buf =~ "^GET" && len(buf) == 5 && cap(buf) == 8 && buf != nil
			nbuf == nil && nbuf == "" && len(nbuf) == 0
			ints != nil && len(ints) == 3 && cap(ints) == 4 && len(arr) == 7
			m != nil && len(m) == 2 && nm == nil && len(nm) == 0 && len(c) + cap(c) == 3
			fn == "main.f" && fn != nil && nfn == nil
			err == "not found" && "not found" == err && err =~ "found$" && err != nil && nerr == nil
			nerr != "not found" && !(nerr == "") && !(nerr =~ "")
			uerr != nil && !(uerr == nil) && nerr != uerr
			ai == 42 && ai > 41 && ai + 1 == 43 && -ai == -42 && as == "x" && ab && ab == true && ai != as
			ai != "x" && as != 42 && ap != nil && ap == 0xc000
			ns > 10ms && ns < 12.5ms && ns / 1ms == 12
			gone == 1 || ok
			false || !false
			n == (100 + 50) && (n > 1) == (n > 2)`},
		{False, `
			n < 100
			key == "alice"
			key == "bobb"
			max < 0
			max == -1
			u8 == -56
			nan == nan
			nan < 1
			lost == "alice"
			long == "abcdefgh"
			long =~ "^b"
			rune =~ "^abc"
			long == "abcdefgX" || long < "abc"
			nerr == "not found"
			nerr =~ ""
			err == "found"
			err == nil
			uerr == nil
			ai == "x"
			ap == "x"
			ap == nil
			gone == 1 && no
			gone == 1 && far > 2 && n < 0
			!(gone == 1 || ok)`},
		{Unknown, `
			gone
			gone == 1
			gone != 1
			!(gone == 1)
			gone == gone
			gone == 1 && ok
			gone == 1 || no
			far > 1 || gone > 1
			far + 1 > 1
			-far < 1
			missing == 3
			odd == 3
			z == 3
			lost == "bob"
			lost != "bob"
			lost =~ "b"
			blank == "bob"
			len(blank) == 3
			len(um) == 2
			len(n) == 3
			long =~ "z"
			long =~ "h$"
			long =~ "a$"
			long =~ "^abcdefghi"
			long =~ "h\\b"
			long < "abcdefghi"
			long[:8] =~ "h" && long[:12] == "abcdefghijkl"
			ai[:2] == "42"
			rune =~ "b[^é]"
			n / zero == 0
			n % zero == 0
			max + 1 > 0
			max * 2 > 0
			-max * 2 < 0
			f % 2 == 0
			f & 1
			uerr == "not found"
			uerr != "not found"
			serr == "not found"
			gerr == nil
			gerr == "not found"
			ai < "x"
			nerr < "x"
			key == 3
			ok < no
			n
			ai
			key`},
	}
	for _, tt := range tests {
		for text := range strings.SplitSeq(strings.TrimSpace(tt.texts), "\n") {
			text = strings.TrimSpace(text)
			t.Run(text, func(t *testing.T) {
				e := mustParse(t, text)
				if got := e.Eval(sample); got != tt.want {
					t.Errorf("%v, want %v", got, tt.want)
				}
				if got := mustParse(t, "!("+text+")").Eval(sample); got != -tt.want {
					t.Errorf("the contrary is %v, want %v", got, -tt.want)
				}
			})
		}
	}
}

func TestParseValue(t *testing.T) {
	for _, tt := range []struct{ text, want, number string }{
		{"n", "150", "150"}, {"neg", "-5", "-5"}, {"max", "18446744073709551615", ""}, {"min", "-9223372036854775808", "-9223372036854775808"},
		{"key", "bob", ""}, {"key[:2]", "bo", ""}, {"key[:9]", "bob", ""}, {"long", "abcdefgh…", ""}, {"long[:8]", "abcdefgh", ""}, {"rune", "ab…", ""},
		{"len(buf) / 2", "2", "2"}, {"flags & 4", "", ""}, {"n & 3", "2", "2"}, {"n > 100", "true", "1"}, {"no", "false", "0"}, {"f", "1.5", ""},
		{"p", "0xc000", "49152"}, {"np", "nil", "0"}, {"fn", "main.f", ""}, {"buf[:3]", "GET", ""},
		{"ints", "[150 …+2]", ""}, {"m", "map[len 2]", ""}, {"arr", "", ""}, {"um", "", ""},
		{"err", "not found", "824633795397"}, {"nerr", "nil", ""}, {"uerr", "", ""}, {"serr", "main.E", ""}, {"ai", "42", "42"}, {"as", "x", ""}, {"ap", "49152", "49152"},
		{"gone", "", ""}, {"lost", "", ""}, {"missing", "", ""}, {"gone + 1", "", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			e, err := ParseValue(tt.text)
			fixture.NoError(t, err)
			text, known := e.Text(sample)
			if text != tt.want || known != (tt.want != "") {
				t.Errorf("%q, %v, want %q", text, known, tt.want)
			}
			number := ""
			if n, ok := e.Number(sample); ok {
				number = fmt.Sprint(n)
			}
			if number != tt.number {
				t.Errorf("as a number %s, want %s", number, tt.number)
			}
		})
	}
	for text, want := range map[string]string{
		"key[:0]": `parse value: "key[:0]": number from 1 to 512 expected, not "0", at 6`, "key[:]": `parse value: "key[:]": number from 1 to 512 expected, not "]", at 6`,
		"key[1:2]": `parse value: "key[1:2]": ] expected, not ":", at 6`, "key + 1": `check value: "key + 1": a number expected for +, not a string, at 1`,
	} {
		expectError(t, ParseValue, text, want)
	}
	for _, text := range []string{"n", "neg", "no", "len(key)", "p", "ai", "n > 100"} {
		expectError(t, ParseNumber, text, "<nil>")
	}
	for text, want := range map[string]string{"key": "a string", "f": "a fraction", "buf": "a string"} {
		expectError(t, ParseNumber, text, fmt.Sprintf("check value: %q: whole number expected, not %s, at 1", text, want))
	}
}

// expectError checks the error of an expression for the sample, "<nil>" for none.
func expectError(t *testing.T, parse func(string) (Expr, error), text, want string) {
	t.Helper()
	e, err := parse(text)
	if err == nil {
		err = e.Check(typeOf)
	}
	if fmt.Sprint(err) != want {
		t.Errorf("%s: %v, want %s", text, err, want)
	}
}

// typeOf returns the types of the sample.
func typeOf(path string) (*gotype.Type, error) {
	if v, ok := sample[path]; ok && v.Type != nil {
		return v.Type, nil
	}
	return nil, errors.New("no variable " + path)
}

func mustParse(t *testing.T, text string) Expr {
	t.Helper()
	e, err := Parse(text)
	fixture.NoError(t, err)
	return e
}

func TestEverything(t *testing.T) {
	var e Expr
	if e.Eval(values{}) != True || e.String() != "" || e.Refs() != nil || e.Check(nil) != nil {
		t.Errorf("the zero filter is %v, %q, %v", e.Eval(values{}), e, e.Refs())
	}
}

func TestCheck(t *testing.T) {
	tests := []struct{ text, want string }{
		{`n > 3 && key == "x" && ok && err != nil && err == "x" && p == nil && p == 0xc000 && buf == "x" && f > 1 && len(m) > 0`, ""},
		{`ai == 3 && ai == "x" && ai && ints != nil && fn == "main.f" && cap(c) > 0 && n & 4`, ""},
		{`key > 3`, `check filter: "key > 3": a string can't be compared with a number at 5`},
		{`n`, `condition expected, not a number, at 1`},
		{`!key`, `true or false expected for !, not a string, at 2`},
		{`n == nil`, `a number can't be compared with nil at 3`},
		{`key == nil`, `a string can't be compared with nil at 5`},
		{`ints == "x"`, `a value can't be compared with a string at 6`},
		{`f & 1`, `a number expected for &, not a number, at 1`},
		{`key + 1 == 2`, `a number expected for +, not a string, at 1`},
		{`n =~ "x"`, `a string expected for =~, not a number, at 1`},
		{`z == 3`, `z is T, which filters can't compare, at 1`},
		{`len(n) == 3`, `len(n): n is int at 1`},
		{`cap(key) == 3`, `cap(key): key is string at 1`},
		{`n > 3 && zz == 3`, `no variable zz at 10`},
		{`key[:2] == "bo" && fn[:4] == "main" && ai[:2] == "42"`, ""},
		{`n[:2] == "42"`, `n[:2]: n is int at 1`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			err := mustParse(t, tt.text).Check(typeOf)
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.HasSuffix(got, tt.want)) {
				t.Errorf("got  %v\nwant %s", got, tt.want)
			}
		})
	}
}

// TestTextOfConstant: constants go by their names, signed or not.
func TestTextOfConstant(t *testing.T) {
	for _, typ := range []string{"int8", "uint8"} {
		state := basic(typ)
		state.SetConstants(func() map[uint64]string { return map[uint64]string{2: "main.done"} })
		e, err := ParseValue("s")
		fixture.NoError(t, err)
		if got, _ := e.Text(values{"s": {Type: state, Num: 2}}); got != "main.done" {
			t.Errorf("constant of %s: %s", typ, got)
		}
	}
}

// TestTextOfBytes: bytes that are no UTF-8 can be told apart, in JSON too.
func TestTextOfBytes(t *testing.T) {
	for _, tt := range []struct{ bytes, text, want string }{
		{"éé", "s[:3]", `é\xc3`}, {"é\xa9", "s", `é\xa9`}, {"\xa9\n", "s[:1]", `\xa9`}, {"\xa9\n", "s", `\xa9\x0a`}, {"a\n", "s", "a\n"},
	} {
		e, err := ParseValue(tt.text)
		fixture.NoError(t, err)
		if got, _ := e.Text(values{"s": {Type: basic("string"), Bytes: []byte(tt.bytes), Len: int64(len(tt.bytes))}}); got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.text, tt.bytes, got, tt.want)
		}
	}
}
