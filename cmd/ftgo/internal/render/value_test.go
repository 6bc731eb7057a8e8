package render

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// typed returns the type of that name: a predeclared one, or one of that kind.
func typed(name string, kind gotype.Kind, size int64) *gotype.Type {
	return &gotype.Type{Name: name, Kind: kind, Size: size}
}

func basic(name string) *gotype.Type {
	t, ok := gotype.Basic(name)
	if !ok {
		panic("no predeclared type " + name)
	}
	return t
}

func num(typ string, n int64) capture.Value { return capture.Value{Type: basic(typ), Num: uint64(n)} }

func float64Of(f float64) capture.Value {
	return capture.Value{Type: basic("float64"), Num: math.Float64bits(f)}
}

func str(s string) capture.Value { return cutStr(s, int64(len(s))) }

// cutStr is a string of length of which s was fetched.
func cutStr(s string, length int64) capture.Value {
	return capture.Value{Type: basic("string"), Bytes: []byte(s), Len: length, Num: 0xc000000100}
}

func byteSlice(s string, length, capacity int64) capture.Value {
	return capture.Value{Type: gotype.SliceOf(basic("uint8")), Bytes: []byte(s), Len: length, Cap: capacity, Num: 0xc000000100}
}

// ints is an []int of length that begins with items.
func ints(length, capacity int64, items ...int64) capture.Value {
	v := capture.Value{Type: gotype.SliceOf(basic("int")), Len: length, Cap: capacity, Num: 0xc000000100}
	for _, n := range items {
		v.Items = append(v.Items, num("int", n))
	}
	return v
}

func structOf(name string, fields ...capture.Value) capture.Value {
	t := typed(name, gotype.Struct, 8)
	for _, f := range fields {
		t.Fields = append(t.Fields, gotype.Field{Name: f.Name, Type: f.Type})
	}
	return capture.Value{Type: t, Fields: fields}
}

func pointer(to capture.Value) capture.Value {
	return capture.Value{Type: gotype.PointerTo(to.Type), Num: 0xc000012345, Elem: &to}
}

// iface is an interface that holds v; an error if the name of its type is "error".
func iface(typ string, v capture.Value) capture.Value {
	return capture.Value{Type: basic(typ), TypeWord: 0x4a1b20, Num: v.Num, Dynamic: v.Type.Name, Elem: &v}
}

func named(name string, v capture.Value) capture.Value {
	v.Name = name
	return v
}

func unreadable(why string) capture.Value {
	return capture.Value{Type: basic("string"), State: capture.Unreadable, Why: why}
}

func unfetched(why string) capture.Value {
	return capture.Value{Type: basic("float64"), State: capture.Unfetched, Why: why}
}

func timeStruct(wall uint64, ext int64) capture.Value {
	return structOf("time.Time", named("wall", num("uint64", int64(wall))), named("ext", num("int64", ext)),
		named("loc", capture.Value{Type: gotype.PointerTo(typed("time.Location", gotype.Struct, 8))}))
}

func errorString(s capture.Value) capture.Value {
	return iface("error", pointer(structOf("errors.errorString", named("s", s))))
}

func errno(n int64) capture.Value {
	return iface("error", capture.Value{Type: typed("syscall.Errno", gotype.Uint, 8), Num: uint64(n)})
}

func pathError(typ string, op, path, err capture.Value) capture.Value {
	return iface("error", pointer(structOf(typ, named("Op", op), named("Path", path), named("Err", err))))
}

func TestValue(t *testing.T) {
	person := structOf("main.Person", named("Name", str("x")), named("Age", num("int", 3)))
	duration := capture.Value{Type: typed("time.Duration", gotype.Int, 8), Num: 1500000}
	noTime := timeStruct(1_000_000_000, 0)
	for _, test := range []struct {
		name       string
		v          capture.Value
		text, json string
	}{
		{"int", num("int", -42), "-42", "-42"},
		{"int8", num("int8", -128), "-128", "-128"},
		{"largest uint64", num("uint64", -1), "18446744073709551615", "18446744073709551615"},
		{"uint64 above 2^53", num("uint64", 1<<53+1), "9007199254740993", "9007199254740993"},
		{"smallest int64", num("int64", math.MinInt64), "-9223372036854775808", "-9223372036854775808"},
		{"uintptr", num("uintptr", 4096), "4096", "4096"},
		{"bool", num("bool", 1), "true", "true"},
		{"bool false", num("bool", 0), "false", "false"},
		{"named int", capture.Value{Type: typed("main.Color", gotype.Int, 8), Num: 7}, "7", "7"},
		{"Duration", duration, "1.5ms", "1500000"},
		{"float64", float64Of(3.25), "3.25", "3.25"},
		{"whole float", float64Of(3), "3", "3"},
		{"large float", float64Of(1e300), "1e+300", "1e+300"},
		{"negative zero", float64Of(math.Copysign(0, -1)), "-0", "-0"},
		{"float32", capture.Value{Type: basic("float32"), Num: uint64(math.Float32bits(0.1))}, "0.1", "0.1"},
		{"NaN", float64Of(math.NaN()), "NaN", `{"float":"NaN"}`},
		{"infinity", float64Of(math.Inf(1)), "+Inf", `{"float":"+Inf"}`},
		{"negative float32 infinity", capture.Value{Type: basic("float32"), Num: 0xff800000}, "-Inf", `{"float":"-Inf"}`},
		{"complex128", capture.Value{Type: basic("complex128"), Num: math.Float64bits(1), Imag: math.Float64bits(-2.5)}, "(1-2.5i)", `{"re":1,"im":-2.5}`},
		{"complex64", capture.Value{Type: basic("complex64"), Num: uint64(math.Float32bits(0.1)), Imag: uint64(math.Float32bits(2))}, "(0.1+2i)", `{"re":0.1,"im":2}`},
		{"complex NaN", capture.Value{Type: basic("complex128"), Imag: math.Float64bits(math.NaN())}, "(0+NaNi)", `{"re":0,"im":{"float":"NaN"}}`},

		{"string", str("hi bob"), `"hi bob"`, `"hi bob"`},
		{"empty string", str(""), `""`, `""`},
		{"quotes and backslashes", str(`a"b\c`), `"a\"b\\c"`, `"a\"b\\c"`},
		{"cut string", cutStr("abc", 4096), `"abc"…+4093`, `{"cut":"abc","len":4096}`},
		{"string of which nothing was fetched", cutStr("", 4096), `""…+4096`, `{"cut":"","len":4096}`},
		{"cut inside a rune", cutStr("ab\xe4\xb8", 9), `"ab"…+7`, `{"cut":"ab","len":9}`},
		{"cut behind a rune", cutStr("ab世", 9), `"ab世"…+4`, `{"cut":"ab世","len":9}`},
		{"invalid UTF-8", str("a\xffb"), `"a\xffb"`, `{"bytes":"Yf9i"}`},
		{"ends inside a rune but is whole", str("ab\xe4\xb8"), `"ab\xe4\xb8"`, `{"bytes":"YWLkuA=="}`},
		{"invalid and cut", cutStr("a\xff", 10), `"a\xff"…+8`, `{"bytes":"Yf8=","len":10}`},
		{"named string", capture.Value{Type: typed("main.Key", gotype.String, 16), Bytes: []byte("k"), Len: 1}, `"k"`, `"k"`},
		{"[]byte", byteSlice("abc", 3, 8), `[]byte("abc")`, `{"len":3,"cap":8,"text":"abc"}`},
		{"[]byte, binary", byteSlice("\x00\xff", 2, 2), `[]byte("\x00\xff")`, `{"len":2,"cap":2,"bytes":"AP8="}`},
		{"[]byte, cut", byteSlice("abc", 9, 9), `[]byte("abc"…+6)`, `{"len":9,"cap":9,"text":"abc"}`},
		{"[]byte, empty", byteSlice("", 0, 8), `[]byte("")`, `{"len":0,"cap":8,"text":""}`},
		{"[]byte, header only", capture.Value{Type: gotype.SliceOf(basic("byte")), Num: 1, Len: 5, Cap: 5}, `[]byte(""…+5)`, `{"len":5,"cap":5,"text":""}`},
		{"[]byte, nil", capture.Value{Type: gotype.SliceOf(basic("byte"))}, "nil", "null"},
		{"named byte slice", capture.Value{Type: typed("json.RawMessage", gotype.Slice, 24), Num: 1, Bytes: []byte("{}"), Len: 2, Cap: 2},
			`json.RawMessage("{}")`, `{"len":2,"cap":2,"text":"{}"}`},

		{"slice", ints(3, 4, 1, 2, 3), "[1 2 3]", `{"len":3,"cap":4,"items":[1,2,3]}`},
		{"cut slice", ints(100, 128, 1, 2, 3), "[1 2 3 …+97]", `{"len":100,"cap":128,"items":[1,2,3]}`},
		{"slice without items", ints(100, 128), "[…+100]", `{"len":100,"cap":128,"items":[]}`},
		{"empty slice", ints(0, 0), "[]", `{"len":0,"cap":0,"items":[]}`},
		{"nil slice", capture.Value{Type: gotype.SliceOf(basic("int"))}, "nil", "null"},
		{"array", capture.Value{Type: &gotype.Type{Name: "[2]int", Kind: gotype.Array, Len: 2}, Len: 2, Items: ints(2, 2, 5, 6).Items}, "[5 6]", "[5,6]"},
		{"cut array", capture.Value{Type: &gotype.Type{Name: "[9]int", Kind: gotype.Array, Len: 9}, Len: 9, Items: ints(2, 2, 5, 6).Items}, "[5 6 …+7]", `{"len":9,"items":[5,6]}`},
		{"empty array", capture.Value{Type: &gotype.Type{Name: "[0]int", Kind: gotype.Array}}, "[]", "[]"},

		{"struct", person, `{Name:"x" Age:3}`, `{"Name":"x","Age":3}`},
		{"empty struct", structOf("struct {}"), "{}", "{}"},
		{"struct with two blank fields", structOf("main.T", named("_", num("int", 1)), named("a", num("int", 2)), named("_", num("int", 3))),
			"{_:1 a:2 _:3}", `{"_":1,"a":2,"_#2":3}`},
		{"struct with an unreadable field", structOf("main.T", named("a", unreadable("no valid pointer")), named("b", num("int", 3))),
			"{a:<unreadable: no valid pointer> b:3}", `{"a":{"unreadable":"no valid pointer"},"b":3}`},
		{"pointer to struct", pointer(person), `&{Name:"x" Age:3}`, `{"&":"0xc000012345","Name":"x","Age":3}`},
		{"pointer to empty struct", pointer(structOf("struct {}")), `&{}`, `{"&":"0xc000012345"}`},
		{"pointer to int", pointer(num("int", 3)), "&3", `{"&":"0xc000012345","value":3}`},
		{"pointer to pointer to struct", pointer(pointer(person)), `&&{Name:"x" Age:3}`,
			`{"&":"0xc000012345","value":{"&":"0xc000012345","Name":"x","Age":3}}`},
		{"pointer to what can't be read", pointer(unreadable("page not there")), "&<unreadable: page not there>", `{"&":"0xc000012345","unreadable":"page not there"}`},
		{"pointer alone", capture.Value{Type: gotype.PointerTo(basic("int")), Num: 0xc000012345}, "0xc000012345", `"0xc000012345"`},
		{"nil pointer", capture.Value{Type: gotype.PointerTo(basic("int"))}, "nil", "null"},
		{"unsafe.Pointer", capture.Value{Type: basic("unsafe.Pointer"), Num: 0x10}, "0x10", `"0x10"`},

		{"nil error", capture.Value{Type: basic("error")}, "nil", "null"},
		{"int in an interface", iface("any", num("int", 3)), "int(3)", `{"type":"int","value":3}`},
		{"string in an interface", iface("any", str("Hello")), `string("Hello")`, `{"type":"string","value":"Hello"}`},
		{"[]byte in an interface", iface("any", byteSlice("abc", 3, 8)), `[]byte("abc")`, `{"type":"[]uint8","value":{"len":3,"cap":8,"text":"abc"}}`},
		{"nil []byte in an interface", iface("any", capture.Value{Type: gotype.SliceOf(basic("uint8"))}), "[]uint8(nil)", `{"type":"[]uint8","value":null}`},
		{"Duration in an interface", iface("any", duration), "time.Duration(1.5ms)", `{"type":"time.Duration","value":1500000}`},
		{"pointer in an interface, type only", capture.Value{Type: basic("any"), TypeWord: 1, Num: 0xc000012345, Dynamic: "*main.T"},
			"*main.T(0xc000012345)", `{"type":"*main.T","value":"0xc000012345"}`},
		{"nil pointer in an interface", capture.Value{Type: basic("any"), TypeWord: 1, Dynamic: "*main.T"}, "*main.T(nil)", `{"type":"*main.T","value":null}`},
		{"interface of a type without a name", capture.Value{Type: basic("any"), TypeWord: 0x4a1b20, Num: 0xc000012345},
			"<0x4a1b20>(0xc000012345)", `{"type":"0x4a1b20","value":"0xc000012345"}`},
		{"out of reach in an interface", iface("any", unfetched("type inside an interface")), "float64(<type inside an interface>)",
			`{"type":"float64","value":{"unfetched":"type inside an interface"}}`},

		{"errors.New", errorString(str("not found")), `*errors.errorString("not found")`,
			`{"type":"*errors.errorString","error":"not found","value":{"&":"0xc000012345","s":"not found"}}`},
		{"message out of reach", errorString(unreadable("no valid pointer")), `*errors.errorString(&{s:<unreadable: no valid pointer>})`,
			`{"type":"*errors.errorString","value":{"&":"0xc000012345","s":{"unreadable":"no valid pointer"}}}`},
		{"fmt.Errorf", iface("error", pointer(structOf("fmt.wrapError", named("msg", cutStr("get bob: not", 18)), named("err", capture.Value{Type: basic("error")})))),
			`*fmt.wrapError("get bob: not"…+6)`,
			`{"type":"*fmt.wrapError","error":{"cut":"get bob: not","len":18},"value":{"&":"0xc000012345","msg":{"cut":"get bob: not","len":18},"err":null}}`},
		{"Errno", errno(2), `syscall.Errno("no such file or directory")`, `{"type":"syscall.Errno","error":"no such file or directory","value":2}`},
		{"PathError", pathError("io/fs.PathError", str("open"), str("/x"), errno(2)), `*io/fs.PathError("open /x: no such file or directory")`,
			`{"type":"*io/fs.PathError","error":"open /x: no such file or directory","value":{"&":"0xc000012345","Op":"open","Path":"/x",` +
				`"Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"SyscallError", iface("error", pointer(structOf("os.SyscallError", named("Syscall", str("connect")), named("Err", errno(2))))), `*os.SyscallError("connect: no such file or directory")`,
			`{"type":"*os.SyscallError","error":"connect: no such file or directory","value":{"&":"0xc000012345","Syscall":"connect","Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"PathError of a cut path", pathError("fs.PathError", str("open"), cutStr("/long", 9), errno(2)), `*fs.PathError("open /long"…+31)`,
			`{"type":"*fs.PathError","error":{"cut":"open /long","len":41},"value":{"&":"0xc000012345","Op":"open","Path":{"cut":"/long","len":9},` +
				`"Err":{"type":"syscall.Errno","error":"no such file or directory","value":2}}}`},
		{"PathError of an unknown cause", pathError("fs.PathError", str("open"), str("/x"), unfetched("too deep")), `*fs.PathError(&{Op:"open" Path:"/x" Err:<too deep>})`,
			`{"type":"*fs.PathError","value":{"&":"0xc000012345","Op":"open","Path":"/x","Err":{"unfetched":"too deep"}}}`},
		{"somebody's errorString", iface("error", pointer(structOf("main.errorString", named("s", str("x"))))), `*main.errorString(&{s:"x"})`,
			`{"type":"*main.errorString","value":{"&":"0xc000012345","s":"x"}}`},

		{"map", capture.Value{Type: typed("map[string]int", gotype.Map, 8), Num: 1, Len: 3}, "map[len 3]", `{"len":3}`},
		{"nil map", capture.Value{Type: typed("map[string]int", gotype.Map, 8)}, "nil", "null"},
		{"chan", capture.Value{Type: typed("chan int", gotype.Chan, 8), Num: 1, Len: 1, Cap: 8}, "chan[1/8]", `{"len":1,"cap":8}`},
		{"func", capture.Value{Type: typed("func()", gotype.Func, 8), Num: 1, Dynamic: "main.main.func1"}, "main.main.func1", `{"func":"main.main.func1"}`},
		{"func without a name", capture.Value{Type: typed("func()", gotype.Func, 8), Num: 0x40}, "0x40", `{"func":"0x40"}`},

		{"unreadable", unreadable("nil pointer"), "<unreadable: nil pointer>", `{"unreadable":"nil pointer"}`},
		{"unreadable for no known reason", unreadable(""), "<unreadable>", `{"unreadable":""}`},
		{"out of reach", unfetched("in a floating-point register"), "<in a floating-point register>", `{"unfetched":"in a floating-point register"}`},
		{"out of reach for no known reason", unfetched(""), "<not fetched>", `{"unfetched":""}`},
		{"unreadable pointer is not nil", capture.Value{Type: gotype.PointerTo(basic("int")), State: capture.Unreadable}, "<unreadable>", `{"unreadable":""}`},
		{"type not known", capture.Value{Type: typed("?", gotype.Unknown, 8), Num: 3}, "<type not known>", `{"unfetched":"type not known"}`},
		{"no type at all", capture.Value{}, "<type not known>", `{"unfetched":"type not known"}`},
		{"not a time", noTime, "{wall:1000000000 ext:0 loc:nil}", `{"wall":1000000000,"ext":0,"loc":null}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ValueText(&test.v); got != test.text {
				t.Errorf("text\ngot  %s\nwant %s", got, test.text)
			}
			got := string(ValueJSON(&test.v))
			if got != test.json {
				t.Errorf("JSON\ngot  %s\nwant %s", got, test.json)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("no JSON: %s", got)
			}
		})
	}
}
