package capture_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// TestRoom checks that values are cut to the width, and the long ones first.
func TestRoom(t *testing.T) {
	many := madeup.Struct("main.Many", madeup.Named("A", madeup.Num("int", 1)), madeup.Named("B", madeup.Num("int", 2)), madeup.Named("C", madeup.Num("int", 3)))
	many.Items = many.Items[:2]
	far := capture.Value{Name: "p", Type: gotype.PointerTo(many.Type), Num: 0xc000012345, Dynamic: "*example.com/many/main.Many"}
	if got := many.Text() + far.Text(); got != `{A:1 B:2 …+1}*main.Many(0xc000012345)` {
		t.Errorf("%s", got)
	}
	args := []capture.Value{madeup.Named("n", madeup.Num("int", 7)), madeup.Named("key", madeup.Str("a long key that goes on and on")), madeup.Named("m", many)}
	for room, want := range map[int]string{
		0:  `(n=7, key="a long key that goes on and on", m={A:1 B:2 …+1})`,
		90: `(n=7, key="a long key that goes on and on", m={A:1 B:2 …+1})`,
		48: `(n=7, key="a long key that goes…, m={A:1 B:2 …+1})`,
		3:  `(n=7, key="a long key…, m={A:1 B:2 ……)`,
	} {
		if got := string(capture.AppendArgs(nil, args, "", room)); got != want {
			t.Errorf("%d: %s, want %s", room, got, want)
		}
	}
	for room, want := range map[int]string{0: ` = "a long key that goes on and on"`, 10: ` = "a long k…`} {
		if got := string(capture.AppendResults(nil, "return", args[1:2], room)); got != want {
			t.Errorf("%d: %s, want %s", room, got, want)
		}
	}
}

func word(n uint64, typ string, size int64) capture.Value {
	return capture.Value{Type: madeup.Typed(typ, reflect.UnsafePointer, size), Num: n}
}

func braced(typ string, list ...capture.Value) capture.Value {
	return madeup.Struct(typ, list...)
}

// guess returns two words that may be a string of that length which begins with text.
func guess(text string, length int64) capture.Value {
	v := braced("{word, word}", word(0x4b2f1a, "word", 8), word(uint64(length), "word", 8))
	v.Bytes, v.Len = []byte(text), length
	return v
}

func TestValue(t *testing.T) {
	person := madeup.Struct("main.Person", madeup.Named("Name", madeup.Str("x")), madeup.Named("Age", madeup.Num("int", 3)))
	duration := capture.Value{Type: madeup.Typed("time.Duration", reflect.Int, 8), Num: 1500000}
	noTime := madeup.Time(1_000_000_000, 0)
	color := madeup.Typed("main.Color", reflect.Int, 8)
	color.SetConstants(func() map[uint64]string { return map[uint64]string{7: "main.Red\n", 1<<64 - 1: "main.None"} })
	for _, test := range []struct {
		name       string
		v          capture.Value
		text, json string
	}{
		{"int", madeup.Num("int", -42), "-42", "-42"},
		{"int8", madeup.Num("int8", -128), "-128", "-128"},
		{"largest uint64", madeup.Num("uint64", -1), "18446744073709551615", "18446744073709551615"},
		{"uint64 above 2^53", madeup.Num("uint64", 1<<53+1), "9007199254740993", "9007199254740993"},
		{"smallest int64", madeup.Num("int64", math.MinInt64), "-9223372036854775808", "-9223372036854775808"},
		{"uintptr", madeup.Num("uintptr", 4096), "4096", "4096"},
		{"bool", madeup.Num("bool", 1), "true", "true"},
		{"bool false", madeup.Num("bool", 0), "false", "false"},
		{"named int", capture.Value{Type: madeup.Typed("main.Color", reflect.Int, 8), Num: 7}, "7", "7"},
		{"constant", capture.Value{Type: color, Num: 7}, `main.Red\x0a`, "7"},
		{"negative constant", capture.Value{Type: color, Num: 1<<64 - 1}, "main.None", "-1"},
		{"no constant", capture.Value{Type: color, Num: 8}, "8", "8"},
		{"Duration", duration, "1.5ms", "1500000"},
		{"float64", madeup.Float64(3.25), "3.25", "3.25"},
		{"whole float", madeup.Float64(3), "3", "3"},
		{"large float", madeup.Float64(1e300), "1e+300", "1e+300"},
		{"negative zero", madeup.Float64(math.Copysign(0, -1)), "-0", "-0"},
		{"float32", capture.Value{Type: madeup.Basic("float32"), Num: uint64(math.Float32bits(0.1))}, "0.1", "0.1"},
		{"NaN", madeup.Float64(math.NaN()), "NaN", `{"float":"NaN"}`},
		{"infinity", madeup.Float64(math.Inf(1)), "+Inf", `{"float":"+Inf"}`},
		{"negative float32 infinity", capture.Value{Type: madeup.Basic("float32"), Num: 0xff800000}, "-Inf", `{"float":"-Inf"}`},
		{"complex128", capture.Value{Type: madeup.Basic("complex128"), Num: math.Float64bits(1), Imag: math.Float64bits(-2.5)}, "(1-2.5i)", `{"re":1,"im":-2.5}`},
		{"complex64", capture.Value{Type: madeup.Basic("complex64"), Num: uint64(math.Float32bits(0.1)), Imag: uint64(math.Float32bits(2))}, "(0.1+2i)", `{"re":0.1,"im":2}`},
		{"complex NaN", capture.Value{Type: madeup.Basic("complex128"), Imag: math.Float64bits(math.NaN())}, "(0+NaNi)", `{"re":0,"im":{"float":"NaN"}}`},

		{"string", madeup.Str("hi bob"), `"hi bob"`, `"hi bob"`},
		{"empty string", madeup.Str(""), `""`, `""`},
		{"quotes and backslashes", madeup.Str(`a"b\c`), `"a\"b\\c"`, `"a\"b\\c"`},
		{"cut string", madeup.CutStr("abc", 4096), `"abc"…+4093`, `{"cut":"abc","len":4096}`},
		{"string of which nothing was fetched", madeup.CutStr("", 4096), `""…+4096`, `{"cut":"","len":4096}`},
		{"cut inside a rune", madeup.CutStr("ab\xe4\xb8", 9), `"ab"…+7`, `{"cut":"ab","len":9}`},
		{"cut behind a rune", madeup.CutStr("ab世", 9), `"ab世"…+4`, `{"cut":"ab世","len":9}`},
		{"invalid UTF-8", madeup.Str("a\xffb"), `"a\xffb"`, `{"bytes":"Yf9i"}`},
		{"ends inside a rune but is whole", madeup.Str("ab\xe4\xb8"), `"ab\xe4\xb8"`, `{"bytes":"YWLkuA=="}`},
		{"invalid and cut", madeup.CutStr("a\xff", 10), `"a\xff"…+8`, `{"bytes":"Yf8=","len":10}`},
		{"named string", capture.Value{Type: madeup.Typed("main.Key", reflect.String, 16), Bytes: []byte("k"), Len: 1}, `"k"`, `"k"`},
		{"[]byte", madeup.ByteSlice("abc", 3, 8), `[]byte("abc")`, `{"len":3,"cap":8,"text":"abc"}`},
		{"[]byte, binary", madeup.ByteSlice("\x00\xff", 2, 2), `[]byte("\x00\xff")`, `{"len":2,"cap":2,"bytes":"AP8="}`},
		{"[]byte, cut", madeup.ByteSlice("abc", 9, 9), `[]byte("abc"…+6)`, `{"len":9,"cap":9,"text":"abc"}`},
		{"[]byte, empty", madeup.ByteSlice("", 0, 8), `[]byte("")`, `{"len":0,"cap":8,"text":""}`},
		{"[]byte, header only", capture.Value{Type: gotype.SliceOf(madeup.Basic("byte")), Num: 1, Len: 5, Cap: 5}, `[]byte(""…+5)`, `{"len":5,"cap":5,"text":""}`},
		{"[]byte, nil", capture.Value{Type: gotype.SliceOf(madeup.Basic("byte"))}, "nil", "null"},
		{"named byte slice", capture.Value{Type: madeup.Typed("json.RawMessage", reflect.Slice, 24), Num: 1, Bytes: []byte("{}"), Len: 2, Cap: 2},
			`json.RawMessage("{}")`, `{"len":2,"cap":2,"text":"{}"}`},

		{"slice", madeup.Ints(3, 4, 1, 2, 3), "[1 2 3]", `{"len":3,"cap":4,"items":[1,2,3]}`},
		{"cut slice", madeup.Ints(100, 128, 1, 2, 3), "[1 2 3 …+97]", `{"len":100,"cap":128,"items":[1,2,3]}`},
		{"slice without items", madeup.Ints(100, 128), "[…+100]", `{"len":100,"cap":128,"items":[]}`},
		{"empty slice", madeup.Ints(0, 0), "[]", `{"len":0,"cap":0,"items":[]}`},
		{"nil slice", capture.Value{Type: gotype.SliceOf(madeup.Basic("int"))}, "nil", "null"},
		{"array", capture.Value{Type: &gotype.Type{Name: "[2]int", Kind: reflect.Array, Len: 2}, Len: 2, Items: madeup.Ints(2, 2, 5, 6).Items}, "[5 6]", "[5,6]"},
		{"cut array", capture.Value{Type: &gotype.Type{Name: "[9]int", Kind: reflect.Array, Len: 9}, Len: 9, Items: madeup.Ints(2, 2, 5, 6).Items}, "[5 6 …+7]", `{"len":9,"items":[5,6]}`},
		{"empty array", capture.Value{Type: &gotype.Type{Name: "[0]int", Kind: reflect.Array}}, "[]", "[]"},

		{"struct", person, `{Name:"x" Age:3}`, `{"Name":"x","Age":3}`},
		{"empty struct", madeup.Struct("struct {}"), "{}", "{}"},
		{"struct with two blank fields", madeup.Struct("main.T", madeup.Named("_", madeup.Num("int", 1)), madeup.Named("a", madeup.Num("int", 2)), madeup.Named("_", madeup.Num("int", 3))),
			"{_:1 a:2 _:3}", `{"_":1,"a":2,"_#2":3}`},
		{"struct with an unreadable field", madeup.Struct("main.T", madeup.Named("a", madeup.Unreadable("no valid pointer")), madeup.Named("b", madeup.Num("int", 3))),
			"{a:<unreadable: no valid pointer> b:3}", `{"a":{"unreadable":"no valid pointer"},"b":3}`},
		{"pointer to struct", madeup.Pointer(person), `&{Name:"x" Age:3}`, `{"&":"0xc000012345","Name":"x","Age":3}`},
		{"pointer to empty struct", madeup.Pointer(madeup.Struct("struct {}")), `&{}`, `{"&":"0xc000012345"}`},
		{"pointer to int", madeup.Pointer(madeup.Num("int", 3)), "&3", `{"&":"0xc000012345","value":3}`},
		{"pointer to pointer to struct", madeup.Pointer(madeup.Pointer(person)), `&&{Name:"x" Age:3}`,
			`{"&":"0xc000012345","value":{"&":"0xc000012345","Name":"x","Age":3}}`},
		{"pointer to what can't be read", madeup.Pointer(madeup.Unreadable("page not there")), "&<unreadable: page not there>", `{"&":"0xc000012345","unreadable":"page not there"}`},
		{"pointer alone", capture.Value{Type: gotype.PointerTo(madeup.Basic("int")), Num: 0xc000012345}, "0xc000012345", `"0xc000012345"`},
		{"nil pointer", capture.Value{Type: gotype.PointerTo(madeup.Basic("int"))}, "nil", "null"},
		{"unsafe.Pointer", capture.Value{Type: madeup.Basic("unsafe.Pointer"), Num: 0x10}, "0x10", `"0x10"`},

		{"word", word(0, "word", 8), "0x0", `"0x0"`},
		{"word that may be another's", word(42, "word32?", 4), "0x2a?", `"0x2a?"`},
		{"words", braced("{word, {word8}, {}}", word(42, "word", 8), braced("{word8}", word(1, "word8", 1)), braced("{}")), "{0x2a, {0x1}, {}}", `["0x2a",["0x1"],[]]`},
		{"some of the words", braced("{word, …}", word(42, "word", 8)), "{0x2a, …}", `["0x2a","…"]`},
		{"none of the words", braced("{…}"), "{…}", `["…"]`},
		{"words that may be text", guess("bob\x1b", 9), `~"bob\x1b"…+5`, `{"guess":{"cut":"bob\u001b","len":9},"words":["0x4b2f1a","0x9"]}`},
		{"nil error", capture.Value{Type: madeup.Basic("error")}, "nil", "null"},
		{"int in an interface", madeup.Interface("any", madeup.Num("int", 3)), "int(3)", `{"type":"int","value":3}`},
		{"string in an interface", madeup.Interface("any", madeup.Str("Hello")), `string("Hello")`, `{"type":"string","value":"Hello"}`},
		{"[]byte in an interface", madeup.Interface("any", madeup.ByteSlice("abc", 3, 8)), `[]byte("abc")`, `{"type":"[]uint8","value":{"len":3,"cap":8,"text":"abc"}}`},
		{"nil []byte in an interface", madeup.Interface("any", capture.Value{Type: gotype.SliceOf(madeup.Basic("uint8"))}), "[]uint8(nil)", `{"type":"[]uint8","value":null}`},
		{"Duration in an interface", madeup.Interface("any", duration), "time.Duration(1.5ms)", `{"type":"time.Duration","value":1500000}`},
		{"pointer in an interface, type only", madeup.Interface("any", capture.Value{Type: gotype.PointerTo(madeup.Typed("main.T", reflect.Struct, 8)), Num: 0xc000012345}),
			"*main.T(0xc000012345)", `{"type":"*main.T","value":"0xc000012345"}`},
		{"nil pointer in an interface", madeup.Interface("any", capture.Value{Type: gotype.PointerTo(madeup.Typed("main.T", reflect.Struct, 8))}), "*main.T(nil)", `{"type":"*main.T","value":null}`},
		{"out of reach in an interface", madeup.Interface("any", madeup.Unfetched("type inside an interface")), "float64(<type inside an interface>)",
			`{"type":"float64","value":{"unfetched":"type inside an interface"}}`},

		{"errors.New", madeup.ErrorString(madeup.Str("not found")), `*errors.errorString("not found")`,
			`{"type":"*errors.errorString","error":"not found","value":{"&":"0xc000012345","s":"not found"}}`},
		{"message out of reach", madeup.ErrorString(madeup.Unreadable("no valid pointer")), `*errors.errorString(&{s:<unreadable: no valid pointer>})`,
			`{"type":"*errors.errorString","value":{"&":"0xc000012345","s":{"unreadable":"no valid pointer"}}}`},
		{"fmt.Errorf", madeup.Interface("error", madeup.Pointer(madeup.Struct("fmt.wrapError", madeup.Named("msg", madeup.CutStr("get bob: not", 18)), madeup.Named("err", capture.Value{Type: madeup.Basic("error")})))),
			`*fmt.wrapError("get bob: not"…+6)`,
			`{"type":"*fmt.wrapError","error":{"cut":"get bob: not","len":18},"value":{"&":"0xc000012345","msg":{"cut":"get bob: not","len":18},"err":null}}`},
		{"Errno", madeup.Errno(2), `syscall.Errno("no such file or directory")`, `{"type":"syscall.Errno","error":"no such file or directory","value":2}`},
		{"PathError", madeup.PathError("io/fs.PathError", madeup.Str("open"), madeup.Str("/x"), madeup.Errno(2)), `*io/fs.PathError("open /x: no such file or directory")`,
			`{"type":"*io/fs.PathError","error":"open /x: no such file or directory","value":{"&":"0xc000012345","Op":"open","Path":"/x",` +
				`"Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"SyscallError", madeup.Interface("error", madeup.Pointer(madeup.Struct("os.SyscallError", madeup.Named("Syscall", madeup.Str("connect")), madeup.Named("Err", madeup.Errno(2))))), `*os.SyscallError("connect: no such file or directory")`,
			`{"type":"*os.SyscallError","error":"connect: no such file or directory","value":{"&":"0xc000012345","Syscall":"connect","Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"PathError of a cut path", madeup.PathError("fs.PathError", madeup.Str("open"), madeup.CutStr("/long", 9), madeup.Errno(2)), `*fs.PathError("open /long"…+31)`,
			`{"type":"*fs.PathError","error":{"cut":"open /long","len":41},"value":{"&":"0xc000012345","Op":"open","Path":{"cut":"/long","len":9},` +
				`"Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"PathError of a cause that is too far away", madeup.PathError("fs.PathError", madeup.Str("open"), madeup.Str("/x"), madeup.Interface("error", madeup.Pointer(madeup.Struct("errors.errorString", madeup.Named("s", madeup.Unfetched("too far")))))),
			`*fs.PathError("open /x: (*errors.errorString)"…)`,
			`{"type":"*fs.PathError","error":{"cut":"open /x: (*errors.errorString)"},"value":{"&":"0xc000012345","Op":"open","Path":"/x",` +
				`"Err":{"type":"*errors.errorString","value":{"&":"0xc000012345","s":{"unfetched":"too far"}}}}}`},
		{"NumError", madeup.Interface("error", madeup.Pointer(madeup.Struct("strconv.NumError", madeup.Named("Func", madeup.Str("Atoi")), madeup.Named("Num", madeup.Str("1\"")), madeup.Named("Err", madeup.Errno(34))))),
			`*strconv.NumError("strconv.Atoi: parsing \"1\\\"\": numerical result out of range")`,
			`{"type":"*strconv.NumError","error":"strconv.Atoi: parsing \"1\\\"\": numerical result out of range","value":{"&":"0xc000012345","Func":"Atoi","Num":"1\"","Err":{"type":"syscall.Errno","error":"numerical result out of range","value":34}}}`},
		{"an error without fields", madeup.Interface("error", madeup.Struct("context.deadlineExceededError")), `context.deadlineExceededError("context deadline exceeded")`,
			`{"type":"context.deadlineExceededError","error":"context deadline exceeded","value":{}}`},
		{"PathError of an unknown cause", madeup.PathError("fs.PathError", madeup.Str("open"), madeup.Str("/x"), madeup.Unfetched("too deep")), `*fs.PathError(&{Op:"open" Path:"/x" Err:<too deep>})`,
			`{"type":"*fs.PathError","value":{"&":"0xc000012345","Op":"open","Path":"/x","Err":{"unfetched":"too deep"}}}`},
		{"somebody's errorString", madeup.Interface("error", madeup.Pointer(madeup.Struct("main.errorString", madeup.Named("s", madeup.Str("x"))))), `*main.errorString(&{s:"x"})`,
			`{"type":"*main.errorString","value":{"&":"0xc000012345","s":"x"}}`},

		{"map", capture.Value{Type: madeup.Typed("map[string]int", reflect.Map, 8), Num: 1, Len: 3}, "map[len 3]", `{"len":3}`},
		{"nil map", capture.Value{Type: madeup.Typed("map[string]int", reflect.Map, 8)}, "nil", "null"},
		{"chan", capture.Value{Type: madeup.Typed("chan int", reflect.Chan, 8), Num: 1, Len: 1, Cap: 8}, "chan[1/8]", `{"len":1,"cap":8}`},
		{"func", capture.Value{Type: madeup.Typed("func()", reflect.Func, 8), Num: 1, Dynamic: "main.main.func1"}, "main.main.func1", `{"func":"main.main.func1"}`},
		{"func without a name", capture.Value{Type: madeup.Typed("func()", reflect.Func, 8), Num: 0x40}, "0x40", `{"func":"0x40"}`},

		{"unreadable", madeup.Unreadable("nil pointer"), "<unreadable: nil pointer>", `{"unreadable":"nil pointer"}`},
		{"out of reach", madeup.Unfetched("in a floating-point register"), "<in a floating-point register>", `{"unfetched":"in a floating-point register"}`},
		{"unreadable pointer is not nil", capture.Value{Type: gotype.PointerTo(madeup.Basic("int")), State: capture.Unreadable, Reason: "x"}, "<unreadable: x>", `{"unreadable":"x"}`},
		{"type not known", capture.Value{Type: madeup.Typed("?", reflect.Invalid, 8), Num: 3}, "<type not known>", `{"unfetched":"type not known"}`},
		{"no type at all", capture.Value{}, "<type not known>", `{"unfetched":"type not known"}`},
		{"not a time", noTime, "{wall:1000000000 ext:0 loc:nil}", `{"wall":1000000000,"ext":0,"loc":null}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.v.Text(); got != test.text {
				t.Errorf("text\ngot  %s\nwant %s", got, test.text)
			}
			got := string(test.v.AppendJSON(nil))
			if got != test.json {
				t.Errorf("JSON\ngot  %s\nwant %s", got, test.json)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("no JSON: %s", got)
			}
		})
	}
}

// TestKeys checks that values have the same key if they are equal, and that an incomplete value has none.
func TestKeys(t *testing.T) {
	id := capture.Value{Type: &gotype.Type{Name: "[2]byte", Kind: reflect.Array, Len: 2}, Len: 2, Items: []capture.Value{madeup.Num("uint8", 1), madeup.Num("uint8", 2)}}
	short := id
	short.Items = id.Items[:1]
	tests := []struct {
		a, b  capture.Value
		equal bool
	}{
		{madeup.Num("int32", 7), madeup.Num("uint64", 7), true},
		{madeup.Num("int", 7), madeup.Num("int", 8), false},
		{madeup.Num("int", -1), madeup.Num("int8", -1), true},
		{madeup.Pointer(madeup.Num("int", 7)), madeup.Pointer(madeup.Num("int", 8)), true}, // their addresses are equal
		{madeup.Str("job-1"), madeup.ByteSlice("job-1", 5, 8), true},
		{madeup.Str("job-1"), madeup.Str("job-12"), false},
		{id, id, true},
		{madeup.Struct("main.K", madeup.Str("a"), madeup.Str("bc")), madeup.Struct("main.K", madeup.Str("ab"), madeup.Str("c")), false},
	}
	for _, tt := range tests {
		a, okA := tt.a.AppendKey(nil)
		b, okB := tt.b.AppendKey(nil)
		if !okA || !okB || (string(a) == string(b)) != tt.equal {
			t.Errorf("%s and %s: %q (%v) and %q (%v), want equal %v", tt.a.Text(), tt.b.Text(), a, okA, b, okB, tt.equal)
		}
	}
	for _, v := range []capture.Value{short, madeup.CutStr("job", 5), madeup.Unreadable("nil pointer"), madeup.Struct("main.K", madeup.Unfetched("no room"))} {
		if key, ok := v.AppendKey(nil); ok {
			t.Errorf("%s: %q", v.Text(), key)
		}
	}
}
