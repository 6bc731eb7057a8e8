package gotab

import (
	"debug/dwarf"
	"debug/elf"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// typesBuilds are the versions and builds that the types of testdata/types are read from.
func typesBuilds() []struct{ version, name, flags string } {
	builds := []struct{ version, name, flags string }{
		{fixture.Current, "external pie", "-buildmode=pie -ldflags=-linkmode=external"},
		{fixture.Current, "stripped pie", "-buildmode=pie -ldflags=-s"},
		{fixture.Current, "stripped external pie", "-buildmode=pie -ldflags=-s\x00-linkmode=external"},
		{"1.27.4", "stripped pie", "-buildmode=pie -ldflags=-s"},
		{"1.27.4", "stripped external pie", "-buildmode=pie -ldflags=-s\x00-linkmode=external"},
		{"1.24.6", "pie", "-buildmode=pie"},
		{"1.24.6", "stripped pie", "-buildmode=pie -ldflags=-s"},
		{"1.12.17", "stripped pie", "-buildmode=pie -ldflags=-s"},
	}
	versions := append(fixture.Releases(), "1.7.6", "1.9.7", "1.24.6")
	slices.Sort(versions)
	for _, v := range slices.Compact(versions) {
		builds = append(builds,
			struct{ version, name, flags string }{v, "default", ""},
			struct{ version, name, flags string }{v, "stripped", "-ldflags=-s\x00-w"})
	}
	return builds
}

func buildTypes(t testing.TB, version, flags string) string {
	t.Helper()
	if strings.Contains(flags, "-buildmode=") {
		fixture.NeedLong(t) // the standard library is compiled for it
	}
	args := strings.Fields(flags)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "\x00", " ")
	}
	path, err := fixture.TryBuildWith(t, version, "types", args...)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRuntimeTypes: the types of a program are read from its file as package reflect
// tells them in the running program.
func TestRuntimeTypes(t *testing.T) {
	for _, build := range typesBuilds() {
		t.Run(build.version+" "+build.name, func(t *testing.T) {
			path := buildTypes(t, build.version, build.flags)
			b := openPath(t, path)
			out, err := exec.Command(path).Output()
			if err != nil {
				t.Fatal(err)
			}
			n := compareReflect(t, b, string(out))
			if n["type"] < 50 || n["field"] < 60 || n["itab"] != 6 || n["func"] != 2 {
				t.Errorf("compared only %v", n)
			}
			// Names that people see most.
			for _, name := range []string{"*errors.errorString", "*net.OpError", "syscall.Errno", "time.Duration", "string", "int"} {
				if !regexp.MustCompile(`(?m)^type\t.*\t` + regexp.QuoteMeta(name) + `$`).Match(out) {
					t.Errorf("the program has no type %s", name)
				}
			}
		})
	}
}

// compareReflect checks what testdata/types has printed, and counts the lines.
func compareReflect(t *testing.T, b *Tables, out string) map[string]int {
	var bias uint64
	var typ *gotype.Type
	var fields []gotype.Field
	read := make(map[string]int)
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		read[f[0]]++
		addr := func() uint64 {
			n, err := strconv.ParseUint(f[1], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n - bias
		}
		switch f[0] {
		case "base":
			bias = addr() - firstSegment(b)&^0xfff
		case "type":
			if len(fields) > 0 {
				t.Errorf("%s: fields %+v too many", typ.Name, fields)
			}
			var err error
			if typ, err = b.RuntimeType(addr()); err != nil {
				t.Fatalf("%s: %v", f[6], err)
			}
			got := []string{strconv.FormatBool(typ.Direct), strconv.FormatInt(typ.Size, 10), strconv.FormatInt(typ.Align, 10), typ.Name}
			want := []string{f[2], f[4], f[5], f[6]}
			if strings.Join(got, " ") != strings.Join(want, " ") || typ.Kind != kindOf[f[3]] {
				t.Errorf("%v of kind %d; want %v, %s", got, typ.Kind, want, f[3])
			}
			fields = typ.Fields
		case "field":
			if typ.Size == 0 && len(fields) == 0 {
				continue
			}
			if len(fields) == 0 {
				t.Fatalf("%s: no field %s", typ.Name, f[3])
			}
			got := []string{strconv.FormatInt(fields[0].Offset, 10), strconv.FormatBool(fields[0].Embedded), fields[0].Name, fields[0].Type.Name}
			if strings.Join(got, " ") != strings.Join(f[1:], " ") {
				t.Errorf("%s: field %v, want %v", typ.Name, got, f[1:])
			}
			fields = fields[1:]
		case "elem":
			if elem := typ.Elem(); elem == nil || elem.Name != f[1] {
				t.Errorf("%s: element %+v, want %s", typ.Name, elem, f[1])
			}
		case "len":
			if got := strconv.FormatInt(typ.Len, 10); got != f[1] {
				t.Errorf("%s: length %s, want %s", typ.Name, got, f[1])
			}
		case "methods":
			if got := strconv.FormatBool(typ.Methods); got != f[1] {
				t.Errorf("%s: methods %s, want %s", typ.Name, got, f[1])
			}
		case "itab":
			concrete, ok := b.ItabType(addr())
			if !ok {
				// Those on the heap are not in the file: the last one, and all before Go 1.7.
				if _, inFile := b.image.Pointer(addr()); inFile || read["itab"] < 6 && b.Version.Minor >= 7 {
					t.Errorf("itab of %s at %s is none", f[2], f[1])
				}
				continue
			}
			if typ, err := b.RuntimeType(concrete); err != nil || typ.Name != f[2] {
				t.Errorf("itab of %v, %v; want %s", typ, err, f[2])
			}
		case "func":
			fn, ok := b.at(addr())
			if !ok || fn.Addr != addr() || fn.t.symbol(fn.word(wordName)) != f[2] {
				t.Errorf("no function %s at %s", f[2], f[1])
			}
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return read
}

func firstSegment(b *Tables) uint64 {
	for _, p := range b.image.ELF.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr
		}
	}
	return 0
}

// kindOf are kinds as package reflect names them.
var kindOf = map[string]reflect.Kind{
	"bool": reflect.Bool, "int": reflect.Int, "int8": reflect.Int, "int16": reflect.Int, "int32": reflect.Int, "int64": reflect.Int,
	"uint": reflect.Uint, "uint8": reflect.Uint, "uint16": reflect.Uint, "uint32": reflect.Uint, "uint64": reflect.Uint, "uintptr": reflect.Uint,
	"float32": reflect.Float64, "float64": reflect.Float64, "complex64": reflect.Complex128, "complex128": reflect.Complex128,
	"array": reflect.Array, "chan": reflect.Chan, "func": reflect.Func, "interface": reflect.Interface, "map": reflect.Map,
	"ptr": reflect.Pointer, "slice": reflect.Slice, "string": reflect.String, "struct": reflect.Struct, "unsafe.Pointer": reflect.UnsafePointer,
}

// TestRuntimeTypesAgainstDWARF: every type that debug information gives the address of
// (DW_AT_go_runtime_type, since Go 1.11) has the name, kind and size that it gives.
func TestRuntimeTypesAgainstDWARF(t *testing.T) {
	const goKind, goRuntimeType = dwarf.Attr(0x2900), dwarf.Attr(0x2904)
	for _, build := range []struct{ version, flags string }{
		{"1.12.17", ""}, {"1.16.15", ""}, {"1.17.13", ""}, {"1.20.14", ""}, {"1.24.6", ""}, {fixture.Current, ""},
		{"1.24.6", "-buildmode=pie"}, {fixture.Current, "-buildmode=pie"}, {fixture.Current, "-ldflags=-linkmode=external"},
		{"1.26.8", ""}, {"1.27.4", ""}, {"1.27.4", "-buildmode=pie"}, {"1.27.4", "-ldflags=-linkmode=external"},
	} {
		t.Run(build.version+" "+build.flags, func(t *testing.T) {
			b := openPath(t, buildTypes(t, build.version, build.flags))
			d, err := b.image.ELF.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			types, err := b.types()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for r := d.Reader(); ; {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e == nil {
					break
				}
				addr, ok := e.Val(goRuntimeType).(uint64)
				if !ok || addr == 0 {
					continue
				}
				compared++
				name, _ := e.Val(dwarf.AttrName).(string)
				if addr < types.start { // counted from runtime.types, as all but one are
					addr += types.start
				}
				typ, err := b.RuntimeType(addr)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if want := asPrinted(name); typ.Name != want {
					t.Errorf("name %s, want %s", typ.Name, want)
				}
				if kind, ok := e.Val(goKind).(int64); ok && kind != 0 && typ.Kind != plainKind(reflect.Kind(kind&kindMask)) {
					t.Errorf("%s of kind %d, want %d", name, typ.Kind, kind)
				}
				if size, ok := e.Val(dwarf.AttrByteSize).(int64); ok && size != typ.Size {
					t.Errorf("%s of %d bytes, want %d", name, typ.Size, size)
				}
			}
			t.Logf("%d types", compared)
			if compared < 300 {
				t.Errorf("compared only %d types", compared)
			}
		})
	}
}

// Parts of names that only debug information has: an alias of the compiler for types
// that are not compared, a number that tells types of functions apart, and up to Go 1.16
// the package of a field that is not exported.
var (
	onlyInternal = regexp.MustCompile(`\bnoalg\.|·[0-9]+`)
	fieldPackage = regexp.MustCompile(`([{;] )[\pL\d_]+\.([\pL\d_]+ [^}])`)
)

// asPrinted leaves of the packages in a name the last element, as %T does: those of
// type arguments are whole there as well.
func asPrinted(name string) string {
	name = onlyInternal.ReplaceAllString(name, "")
	const shape = "go.shape." // what follows is spelled out too
	if !strings.Contains(name, shape+"struct") {
		name = fieldPackage.ReplaceAllString(name, "$1$2")
	}
	name, rest, isShape := strings.Cut(name, shape)
	if isShape {
		rest = shape + rest
	}
	var out []byte
	word, depth := 0, 0 // where the word in out begins; brackets of type arguments
	for _, c := range []byte(name) {
		inWord := c == '_' || c == '.' || c == '-' || c == '$' || c == '/' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		switch {
		case c == '[' && (depth > 0 || word < len(out) && !strings.HasPrefix(string(out[word:])+".", "map.")):
			depth++
		case c == ']' && depth > 0:
			depth--
		case c == '/' && depth == 0:
			out = out[:word]
			continue
		}
		out = append(out, c)
		if !inWord {
			word = len(out)
		}
	}
	return string(out) + rest
}

func TestAsPrinted(t *testing.T) {
	for name, want := range map[string]string{
		"*net/http.Request":                              "*http.Request",
		"map[net/url.A]*[2]a/b/c.D":                      "map[url.A]*[2]c.D",
		"sync/atomic.Pointer[net/http.response]":         "atomic.Pointer[net/http.response]",
		"struct { runtime.gList; runtime.n int32 }":      "struct { runtime.gList; n int32 }",
		"*sync/atomic.P[go.shape.struct { a/b.c bool }]": "*atomic.P[go.shape.struct { a/b.c bool }]",
		"noalg.map.bucket[runtime.a·2]internal/cpu.b":    "map.bucket[runtime.a]cpu.b",
	} {
		if got := asPrinted(name); got != want {
			t.Errorf("%s is printed %s, want %s", name, got, want)
		}
	}
}
