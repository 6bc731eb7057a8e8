package where

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
)

// fields are what the kernel knows in these tests: variables in registers.
func fields(r Ref) (name string, t *gotype.Type, ok bool) {
	types := map[string]*gotype.Type{
		"n": basic("int"), "i8": basic("int8"), "u8": basic("uint8"), "u64": basic("uint64"), "w": basic("uint16"), "ok": basic("bool"),
		"p": kind(reflect.Pointer, 8), "m": kind(reflect.Map, 8), "key": basic("string"), "buf": gotype.SliceOf(basic("byte")), "f": basic("float64"),
		"ints": gotype.SliceOf(basic("int")),
	}
	t, ok = types[r.Path]
	long := ok && (t.Kind == reflect.String || t.Kind == reflect.Slice)
	if r.Part == capture.Len {
		return r.Path + "_len", basic("int"), long
	}
	return "f_" + r.Path, t, ok && r.Part != capture.Cap && !long
}

func TestSplit(t *testing.T) {
	tests := []struct{ text, kernel, rest string }{
		{`n > 100 && r0 == 3`, `f_n > 100`, `r0 == 3`},
		{`n > 100`, `f_n > 100`, ``},
		{`r0 == 3`, ``, `r0 == 3`},
		{`100 < n && (-5 <= n && n != 2 * 50)`, `f_n > 100 && f_n >= -5 && f_n != 100`, ``},
		{`n == 1 || n == 2`, `(f_n == 1 || f_n == 2)`, ``},
		{`!(n == 1 || n >= 2 && ok)`, `(f_n != 1 && (f_n < 2 || f_ok == 0))`, ``},
		{`ok && !ok && ok == false && ok != true && true == ok`, `f_ok != 0 && f_ok == 0 && f_ok == 0 && f_ok == 0 && f_ok != 0`, ``},
		{`n & 4 && n & 6 == 6 && !(8 & n)`, ``, `n & 4 != 0 && n & 6 == 6 && !(8 & n != 0)`},
		{`n > 1e6 && n > 1.5 && n == 10ms`, `f_n > 1000000 && f_n == 10000000`, `n > 1.5`},
		{`n + 1 > 2 && n > len(key)`, ``, `n + 1 > 2 && n > len(key)`},
		{`i8 == 300 && u8 == -1 && i8 < 128 && u8 < 256`, ``, `i8 == 300 && u8 == -1 && i8 < 128 && u8 < 256`},
		{`i8 == -128 && u8 == 200 && u8 != 3`, `f_i8 == -128 && f_u8 == 200 && f_u8 != 3`, ``},
		{`u8 < 100 && u8 <= 200`, `f_u8 < 100 && f_u8 <= 200`, ``},
		{`u64 > 18446744073709551614`, `f_u64 > 18446744073709551614`, ``},
		{`w > 40000 && w == 65535`, `f_w > 40000 && f_w == 65535`, ``},
		{`p == nil && m != nil && p == 0xc000 && nil == ints`, `f_p == 0 && f_m != 0 && f_p == 49152`, `nil == ints`},
		{`f > 1 && f == f`, ``, `f > 1 && f == f`},
		{`len(key) > 3 && cap(buf) > 3`, `key_len > 3`, `cap(buf) > 3`},
		{`key == "" && "bo" != key && buf == "\xff\x00"`, ``, `key == "" && "bo" != key && buf == "\xff\x00"`},
		{`key < "x" && key =~ "x" && n =~ "x"`, ``, `key < "x" && key =~ "x" && n =~ "x"`},
		{`n == 1 && key =~ "x" || n == 2`, ``, `n == 1 && key =~ "x" || n == 2`},
		{`!(n == 1 || key =~ "x")`, ``, `!(n == 1 || key =~ "x")`},
		{`n == 1 || key =~ "x"`, ``, `n == 1 || key =~ "x"`},
		{`(n > 3) == ok`, ``, `n > 3 == ok`},
		{`true && 1 < 2`, ``, `true && 1 < 2`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			kernel, _, rest := mustParse(t, tt.text).Split(fields)
			if kernel != tt.kernel {
				t.Errorf("kernel\ngot  %s\nwant %s", kernel, tt.kernel)
			}
			if rest.String() != tt.rest {
				t.Errorf("rest\ngot  %s\nwant %s", rest, tt.rest)
			}
		})
	}
}

// TestSplitLength: what does not fit stays where it can be evaluated.
func TestSplitLength(t *testing.T) {
	const conjuncts = 200
	long := strings.Repeat("n == 1234567 || ", 300) + "n == 0"
	text := strings.Repeat("(n == 1234567 || n > 7654321) && ", conjuncts) + "(" + long + ")"
	kernel, inKernel, rest := mustParse(t, text).Split(fields)
	pushed := strings.Count(inKernel.String(), "7654321")
	if len(kernel) > MaxFilter || pushed < 50 || pushed > conjuncts || strings.Count(kernel, "7654321") != pushed || strings.Contains(kernel, "f_n == 0") {
		t.Errorf("%d conditions of %d bytes", pushed, len(kernel))
	}
	if got := strings.Count(rest.String(), "7654321"); got != conjuncts-pushed || !strings.Contains(rest.String(), long) {
		t.Errorf("%d comparisons are left, want %d: %s", got, conjuncts-pushed, rest)
	}
}
