package gotab

import (
	"debug/elf"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/gotype"
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
	fixture.NoError(t, err)
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
			fixture.NoError(t, err)
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
			fixture.NoError(t, err)
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
