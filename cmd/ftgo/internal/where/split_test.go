package where

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// fields are what the kernel knows in these tests: variables in registers, fetched as
// signed numbers but for w.
func fields(r Ref) (capture.Field, bool) {
	types := map[string]*gotype.Type{
		"n": basic("int"), "i8": basic("int8"), "u8": basic("uint8"), "u64": basic("uint64"), "w": basic("uint16"), "ok": basic("bool"),
		"p": kind(reflect.Pointer, 8), "m": kind(reflect.Map, 8), "key": basic("string"), "buf": gotype.SliceOf(basic("byte")), "f": basic("float64"),
		"ints": gotype.SliceOf(basic("int")),
	}
	t, ok := types[r.Path]
	if r.Part == capture.Len {
		return capture.Field{Name: r.Path + "_len", Type: basic("int"), Signed: true}, ok && (t.Kind == reflect.String || t.Kind == reflect.Slice)
	}
	if r.Part == capture.Cap {
		return capture.Field{}, false
	}
	return capture.Field{Name: "f_" + r.Path, Type: t, Signed: r.Path != "w"}, ok
}

// longestName is as long as a field's name can be.
func longestName(Piece) string { return strings.Repeat("x", 31) }

func pieceName(p Piece) string { return fmt.Sprintf("%s_%d_%d", p.Ref.Path, p.Offset, p.Size) }

func TestSplit(t *testing.T) {
	tests := []struct{ text, kernel, rest string }{
		{`n > 100 && r0 == 3`, `f_n > 100`, `r0 == 3`},
		{`n > 100`, `f_n > 100`, ``},
		{`r0 == 3`, ``, `r0 == 3`},
		{`100 < n && (-5 <= n && n != 2 * 50)`, `f_n > 100 && f_n >= -5 && f_n != 100`, ``},
		{`n == 1 || n == 2`, `(f_n == 1 || f_n == 2)`, ``},
		{`!(n == 1 || n >= 2 && ok)`, `(f_n != 1 && (f_n < 2 || f_ok == 0))`, ``},
		{`ok && !ok && ok == false && ok != true && true == ok`, `f_ok != 0 && f_ok == 0 && f_ok == 0 && f_ok == 0 && f_ok != 0`, ``},
		{`n & 4 && n & 6 == 0 && !(8 & n)`, `(f_n & 4) && !(f_n & 6) && !(f_n & 8)`, ``},
		{`n & -4 && n & 0x100000000 && n & 6 == 6`, ``, `n & -4 != 0 && n & 4294967296 != 0 && n & 6 == 6`},
		{`n > 1e6 && n > 1.5 && n == 10ms`, `f_n > 1000000 && f_n == 10000000`, `n > 1.5`},
		{`n + 1 > 2 && n > len(key)`, ``, `n + 1 > 2 && n > len(key)`},
		{`i8 == 300 && u8 == -1 && i8 < 128 && u8 < 256`, ``, `i8 == 300 && u8 == -1 && i8 < 128 && u8 < 256`},
		{`i8 == -128 && u8 == 200 && u8 != 3`, `f_i8 == -128 && f_u8 == -56 && f_u8 != 3`, ``},
		{`u8 < 100 && u8 <= 200`, `(f_u8 >= 0 && f_u8 < 100) && (f_u8 >= 0 || f_u8 <= -56)`, ``},
		{`u8 > 100 && u8 >= 200`, `(f_u8 < 0 || f_u8 > 100) && (f_u8 < 0 && f_u8 >= -56)`, ``},
		{`u64 > 18446744073709551614 && u64 & 0x80000000`, `(f_u64 < 0 && f_u64 > -2) && (f_u64 & 2147483648)`, ``},
		{`w > 40000 && w == 65535`, `f_w > 40000 && f_w == 65535`, ``},
		{`p == nil && m != nil && p == 0xc000 && nil == ints`, `f_p == 0 && f_m != 0 && f_p == 49152`, `nil == ints`},
		{`f > 1 && f == f`, ``, `f > 1 && f == f`},
		{`len(key) > 3 && cap(buf) > 3`, `key_len > 3`, `cap(buf) > 3`},
		{`key == ""`, `f_key == 0`, ``},
		{`key == "bob"`, `(f_key == 3 && (key_0_2 == 28514 || key_0_2 == 0) && (key_2_1 == 98 || key_2_1 == 0))`, `key == "bob"`},
		{`"bo" != key`, `(f_key != 2 || key_0_2 != 28514)`, `"bo" != key`},
		{`buf == "\xff\x00"`, `(f_buf == 2 && (buf_0_2 == 255 || buf_0_2 == 0))`, `buf == "\xff\x00"`},
		{`key == "\x00" && key != "\x00"`, `(f_key == 1 && key_0_1 == 0)`, `key == "\x00" && key != "\x00"`},
		{`key == "abcdefghijklmno"`, `(f_key == 15 && (key_0_8 == 7523094288207667809 || key_0_8 == 0) && (key_8_4 == 1818978921 || key_8_4 == 0)` +
			` && (key_12_2 == 28269 || key_12_2 == 0) && (key_14_1 == 111 || key_14_1 == 0))`, `key == "abcdefghijklmno"`},
		{`key < "x" && key =~ "x" && n =~ "x"`, ``, `key < "x" && key =~ "x" && n =~ "x"`},
		{`n == 1 && key =~ "x" || n == 2`, `(f_n == 1 || f_n == 2)`, `n == 1 && key =~ "x" || n == 2`},
		{`!(n == 1 || key =~ "x")`, `f_n != 1`, `!(n == 1 || key =~ "x")`},
		{`n == 1 || key =~ "x"`, ``, `n == 1 || key =~ "x"`},
		{`(n > 3) == ok`, ``, `n > 3 == ok`},
		{`true && 1 < 2`, ``, `true && 1 < 2`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			pushes, rest := mustParse(t, tt.text).Split(fields)
			var kernel []string
			for _, p := range pushes {
				kernel = append(kernel, p.Filter(pieceName))
			}
			if got := strings.Join(kernel, " && "); got != tt.kernel {
				t.Errorf("kernel\ngot  %s\nwant %s", got, tt.kernel)
			}
			if rest.String() != tt.rest {
				t.Errorf("rest\ngot  %s\nwant %s", rest, tt.rest)
			}
		})
	}
}

// TestSplitLength: what does not fit stays where it can be evaluated.
func TestSplitLength(t *testing.T) {
	const conjuncts = 20
	text := strings.Repeat(`key == "`+strings.Repeat("x", 70)+`" && `, conjuncts) + "n > 3"
	pushes, rest := mustParse(t, text).Split(fields)
	total := 0
	for _, p := range pushes {
		total += len(p.Filter(longestName)) + 4
		if p.Exact != (p.Expr.String() == "n > 3") {
			t.Errorf("%s is said to be exact: %v", p.Expr, p.Exact)
		}
	}
	if total > MaxFilter || len(pushes) < 3 || len(pushes) > conjuncts {
		t.Errorf("%d conditions of %d bytes", len(pushes), total)
	}
	if got := strings.Count(rest.String(), "key =="); got != conjuncts {
		t.Errorf("%d comparisons are left, want %d", got, conjuncts)
	}
}
