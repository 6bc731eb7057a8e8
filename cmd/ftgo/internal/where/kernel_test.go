package where

import (
	"cmp"
	"go/ast"
	"go/constant"
	goparser "go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// kernelPasses evaluates a filter as parse_pred, process_preds and the predicates of
// kernel/trace/trace_events_filter.c (Linux 6.12) do. It reads the filter as Go, which has the same syntax, and panics for
// what the kernel does not know.
func kernelPasses(filter ast.Expr, c values) bool {
	switch e := filter.(type) {
	case *ast.ParenExpr:
		return kernelPasses(e.X, c)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND:
			return kernelPasses(e.X, c) && kernelPasses(e.Y, c)
		case token.LOR:
			return kernelPasses(e.X, c) || kernelPasses(e.Y, c)
		}
		bits, size, signed := c.field(e.X.(*ast.Ident).Name)
		return kernelCompares(e.Op, bits, types.ExprString(e.Y), 64-8*size, signed)
	}
	panic(types.ExprString(filter))
}

// kernelCompares compares a field with a number. unused is the number of bits that the field lacks in a word.
func kernelCompares(op token.Token, bits uint64, digits string, unused int64, signed bool) bool {
	value, err := strconv.ParseUint(digits, 10, 64)
	if signed {
		var i int64
		i, err = strconv.ParseInt(digits, 10, 64)
		value = uint64(i)
	}
	if err != nil {
		panic(err)
	}
	a, b := bits<<unused, value<<unused // cut to the field's size, order kept
	order := cmp.Compare(a, b)
	if signed {
		order = cmp.Compare(int64(a), int64(b))
	}
	return constant.Compare(constant.MakeInt64(int64(order)), op, constant.MakeInt64(0))
}

var texts = []string{"", "b", "bob", "bobby", "longer than what is fetched"}

// newCall returns a call of which as much is known as was fetched.
func newCall(r *rand.Rand) values {
	key := texts[r.IntN(len(texts))]
	c := values{"r0": num("int", int64(r.IntN(3))), "gone": state(num("int", 0), capture.Unreadable), "key": cutStr(key[:min(len(key), 4)], int64(len(key)))}
	if r.IntN(4) == 0 && key != "" {
		c["key"] = state(c["key"], capture.Unreadable)
	}
	for _, name := range []string{"n", "i8", "u8", "u64", "w", "ok", "p"} {
		_, typ, _ := fields(Ref{Path: name})
		bits := [...]uint64{0, 1, 2, 3, 100, 127, 128, 200, 255, 1 << 15, 1<<16 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 5, r.Uint64()}[r.IntN(15)]
		unused := 64 - 8*typ.Size
		v := capture.Value{Type: typ, Num: bits << unused >> unused}
		if typ.Kind == reflect.Int {
			v.Num = uint64(int64(bits<<unused) >> unused)
		} else if typ.Kind == reflect.Bool {
			v.Num &= 1
		}
		c[name] = v
	}
	return c
}

// field returns a field of the event that the kernel recorded, and its size in bytes.
func (c values) field(name string) (bits uint64, size int64, signed bool) {
	if name == "key_len" {
		return uint64(c["key"].Len), 8, true
	}
	v := c[strings.TrimPrefix(name, "f_")]
	return v.Num, v.Type.Size, v.Type.Kind == reflect.Int
}

// randomCondition writes a filter of some depth.
func randomCondition(r *rand.Rand, depth int) string {
	if depth > 0 {
		x, y := randomCondition(r, depth-1), randomCondition(r, depth-1)
		switch r.IntN(5) {
		case 0, 1:
			return "(" + x + " && " + y + ")"
		case 2, 3:
			return "(" + x + " || " + y + ")"
		}
		return "!(" + x + ")"
	}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	comparison := pick("==", "!=", "<", "<=", ">", ">=")
	number := pick("0", "1", "2", "-1", "-5", "100", "127", "128", "-128", "200", "255", "256", "32768", "65535",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "2.0", "1.5")
	variable := pick("n", "i8", "u8", "u64", "w")
	switch r.IntN(10) {
	case 0:
		return variable + " & " + pick("1", "2", "128", "-1", "0x80000000", "0x100000000") + pick("", " == 0", " != 0", " == 2")
	case 1:
		return pick("ok", "!ok", "ok == false", "true != ok", "p == nil", "nil != p", "p == 200")
	case 2, 3:
		return "key " + pick("==", "!=", "==", "!=", "<") + " " + strconv.Quote(texts[r.IntN(len(texts))])
	case 4:
		return "len(key) " + comparison + " " + number
	case 5:
		return pick("r0 == 1", "r0 < 2", "gone == 3", `key =~ "^b"`, "n + 1 > 2", "true", "r0 == n")
	case 6:
		return number + " " + comparison + " " + variable
	}
	return variable + " " + comparison + " " + number
}

// TestSplitKeepsMeaning: the kernel drops only calls that the filter does not let through,
// and the rest decides of the others as the whole would.
func TestSplitKeepsMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dropped, passed, pushed := 0, 0, 0
	for range 1500 {
		var text strings.Builder
		text.WriteString(randomCondition(r, r.IntN(4)))
		for range r.IntN(3) {
			text.WriteString(" && " + randomCondition(r, r.IntN(2)))
		}
		whole := mustParse(t, text.String())
		kernel, inKernel, rest := whole.Split(fields)
		if kernel != "" {
			pushed++
		}
		for range 30 {
			c := newCall(r)
			want, pass := whole.Eval(c), true
			if kernel != "" {
				filter, err := goparser.ParseExpr(kernel)
				fixture.NoError(t, err)
				pass = kernelPasses(filter, c)
			}
			if got := inKernel.Eval(c); got != truth(pass) {
				t.Fatalf("%s is %v, but %s %v for %v", inKernel, got, kernel, pass, c)
			}
			if !pass {
				dropped++
				if want != False {
					t.Fatalf("%s is %v, but the kernel drops %v", text.String(), want, c)
				}
				continue
			}
			passed++
			if got := rest.Eval(c); got != want {
				t.Fatalf("%s is %v, but the rest %s is %v for %v", text.String(), want, rest, got, c)
			}
		}
	}
	if dropped < 1000 || passed < 1000 || pushed < 300 {
		t.Errorf("%d conditions, %d calls dropped, %d passed: this tests little", pushed, dropped, passed)
	}
}
