package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// machine fetches like the kernel: unreadable memory is 0, and if a pointer on the way to a word can't be read, the word
// keeps its value from an earlier event.
type machine struct {
	registers map[string]uint64
	memory    map[uint64]byte
	types     map[uint64]*gotype.Type
	itabs     map[uint64]uint64
}

const stale = 0xdeadbeef00000000

func (m *machine) put(addr uint64, words ...uint64) {
	for i, w := range words {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], w)
		m.text(addr+uint64(8*i), string(b[:]))
	}
}

func (m *machine) text(addr uint64, s string) {
	for i := range len(s) {
		m.memory[addr+uint64(i)] = s[i]
	}
}

func (m *machine) load(addr uint64, size int) (v uint64, ok bool) {
	for i := range size {
		b, there := m.memory[addr+uint64(i)]
		if !there {
			return 0, false
		}
		v |= uint64(b) << (8 * i)
	}
	return v, true
}

// address returns the value of the text in the parentheses of a fetcharg.
func (m *machine) address(t *testing.T, text string) (addr uint64, ok bool) {
	if r, isRegister := strings.CutPrefix(text, "%"); isRegister {
		return m.registers[r], true
	}
	at, ok := m.indirect(t, text)
	if !ok {
		return 0, false
	}
	return m.load(at, 8)
}

// indirect returns the address that "+8(...)" reads from.
func (m *machine) indirect(t *testing.T, text string) (addr uint64, ok bool) {
	disp, inner, found := strings.Cut(text, "(")
	n, err := strconv.ParseInt(disp, 10, 64)
	if !found || err != nil {
		t.Fatalf("fetcharg %q", text)
	}
	base, ok := m.address(t, strings.TrimSuffix(inner, ")"))
	return base + uint64(n), ok
}

func (m *machine) fetch(t *testing.T, args []tracefs.Arg) (words []uint64) {
	for _, a := range args {
		bits, count, isArray := strings.Cut(a.Type[1:], "[")
		size, _ := strconv.Atoi(bits)
		n := 1
		if isArray {
			n, _ = strconv.Atoi(strings.TrimSuffix(count, "]"))
		}
		if r, isRegister := strings.CutPrefix(a.Fetch, "%"); isRegister {
			v := m.registers[r] << (64 - size) // the kernel prints it as signed
			words = append(words, uint64(int64(v)>>(64-size)))
			continue
		}
		at, ok := m.indirect(t, a.Fetch)
		for i := range n {
			v, _ := m.load(at+uint64(i*size/8), size/8)
			if !ok {
				v = stale
			}
			words = append(words, v)
		}
	}
	return words
}

func (m *machine) DynamicType(addr uint64) *gotype.Type { return m.types[addr] }
func (m *machine) ItabType(itab uint64) (uint64, bool)  { at, ok := m.itabs[itab]; return at, ok }
func (m *machine) Bias() uint64                         { return 0 }
func (m *machine) FuncName(pc uint64) string            { return fmt.Sprintf("main.at%x", pc) }
func (m *machine) Readable(addr uint64) (bool, bool)    { _, ok := m.memory[addr]; return ok, true }

func newMachine() *machine {
	m := &machine{registers: make(map[string]uint64), memory: make(map[uint64]byte), itabs: map[uint64]uint64{0x5000: 0x6000}}
	m.text(0x10000, "hello, wide world!")
	m.text(0x10800, strings.Repeat("\x00", 32))
	m.put(0x11000, 7, 0x10000, 5)                           // inner{7, "hello"}
	m.put(0x12000, 0x11000, 0x13000, 3, 4, 0)               // outer{&inner, items[3:4], nil}
	m.put(0x13000, 1, 0x10000, 1, 2, 0x10000, 2, 3, 0x1, 3) // three inner, the last with a bad string
	m.put(0x14000, 0x10000, 5)                              // a string: "hello"
	m.put(0x15000, 0x10000, 4, 0x10007, 4, 0x5000, 0x15100) // PathError{"hell", "wide", Errno 2}
	m.put(0x15100, 2)
	m.put(0x15200, 0x10000, 4, 0x5000, 0x15100) // SyscallError{"hell", Errno 2}
	m.put(0x16000, 5, 9)                        // a map of 5, a channel with 5 of 9, code at 5
	m.put(0x17000, 0x0807060504030201, 0x100f0e0d0c0b0a09)
	pathError := structOf("fs.PathError", 48,
		gotype.Field{Name: "Op", Type: basic("string")}, gotype.Field{Name: "Path", Offset: 16, Type: basic("string")}, gotype.Field{Name: "Err", Offset: 32, Type: basic("error")})
	syscallError := structOf("os.SyscallError", 32,
		gotype.Field{Name: "Syscall", Type: basic("string")}, gotype.Field{Name: "Err", Offset: 16, Type: basic("error")})
	large := structOf("main.large", 112, gotype.Field{Name: "n", Type: basic("int")},
		gotype.Field{Name: "in", Offset: 40, Type: inner}, gotype.Field{Name: "far", Offset: 64, Type: structOf("main.far", 48, gotype.Field{Name: "in", Type: inner}, gotype.Field{Name: "err", Offset: 24, Type: basic("error")})})
	errno := &gotype.Type{Name: "syscall.Errno", Kind: reflect.Uint, Size: 8, Align: 8}
	m.types = map[uint64]*gotype.Type{
		0x6000: errno, 0x6100: basic("string"), 0x6200: basic("int8"),
		0x6300: gotype.PointerTo(inner), 0x6400: gotype.PointerTo(pathError), 0x6500: gotype.PointerTo(syscallError), 0x6600: gotype.PointerTo(large), 0x6700: large,
	}
	for _, t := range m.types {
		t.Direct = t.Kind == reflect.Pointer
	}
	m.itabs[0x5400], m.itabs[0x5500] = 0x6400, 0x6500
	m.put(0x18000, 0, 0x6400) // an itab made at run time
	m.put(0x18020, 0, 0x6300)
	m.put(0x18040, 0, 0x6700)
	// Maps of Go 1.24: {used, seed, dirPtr, dirLen}, and slots of a byte each and a string and a number.
	m.put(0x1a000, 3, 0, 0x1a100, 0)
	m.put(0x1a100, 0x80_80_80_80_01_80_fe_02, 0x10000, 5, 7, 0x10000, 4, 8, 0x1, 4, 9, 0x10000, 4, 10)
	m.put(0x1a300, 9, 0, 0x1a400, 1)
	m.put(0x1a500, 0, 0, 0, 0)
	// Before: {count, flags and B, buckets}, and hashes, keys, elements.
	m.put(0x1b000, 2, 0, 0x1b100)
	m.put(0x1b100, 0x09_05_00, 1, 7, ^uint64(2), 0, 0, 0, 0, 0, 0x44, 0x55, 0x66)
	m.put(0x1b200, 20, 0x2_00, 0x1b100)
	m.put(0x1b300, 0)
	return m
}

func (m *machine) typeNamed(name string) (*gotype.Type, error) {
	for _, t := range m.types {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, errors.New("no such type")
}

// mapOf returns a map type with the given type of a group or bucket of eight elements.
func mapOf(group *gotype.Type) *gotype.Type {
	t := &gotype.Type{Name: "map", Kind: reflect.Map, Size: 8}
	t.SetGroup(func() *gotype.Type { return group })
	return t
}

func arrayOf(n int64, elem *gotype.Type) *gotype.Type {
	t := &gotype.Type{Kind: reflect.Array, Size: n * elem.Size, Align: 8, Len: n}
	t.SetElem(func() *gotype.Type { return elem })
	return t
}

var (
	fewMethods = &gotype.Type{Name: "main.fewMethods", Kind: reflect.Interface, Size: 16, Methods: true}
	word       = &gotype.Type{Name: "word", Kind: reflect.UnsafePointer, Size: 8}
	twoWords   = structOf("{word, word}", 16, gotype.Field{Name: "w0", Type: word}, gotype.Field{Name: "w1", Offset: 8, Type: word})
	swissMap   = mapOf(structOf("group", 200, gotype.Field{Name: "ctrl", Type: basic("uint64")},
		gotype.Field{Name: "slots", Offset: 8, Type: arrayOf(8, structOf("slot", 24, gotype.Field{Name: "key", Type: basic("string")}, gotype.Field{Name: "elem", Offset: 16, Type: basic("int")}))}))
	oldMap = mapOf(structOf("bucket", 144, gotype.Field{Name: "tophash", Type: arrayOf(8, basic("uint8"))},
		gotype.Field{Name: "keys", Offset: 8, Type: arrayOf(8, basic("int"))}, gotype.Field{Name: "values", Offset: 72, Type: arrayOf(8, basic("int"))}))
)

func TestDecode(t *testing.T) {
	m := newMachine()
	for _, c := range []struct {
		name  string
		typ   *gotype.Type
		words []uint64 // in AX, BX, CX
		path  string
		want  string
	}{
		{"signed", basic("int8"), []uint64{0xfff0}, "", "-16"},
		{"unsigned", basic("uint8"), []uint64{0xfff0}, "", "240"},
		{"string", basic("string"), []uint64{0x10000, 5}, "", `"hello"`},
		{"cut string", basic("string"), []uint64{0x10000, 18}, "", `"hello, wide worl"…+2`},
		{"empty string", basic("string"), []uint64{0, 0}, "", `""`},
		{"string of zeros", basic("string"), []uint64{0x10800, 3}, "", `"\x00\x00\x00"`},
		{"string that can't be read", basic("string"), []uint64{0x99000, 3}, "", "<unreadable: no valid pointer>"},
		{"string at no address", basic("string"), []uint64{3, 3}, "", "<unreadable: no valid pointer>"},
		{"bytes", gotype.SliceOf(basic("uint8")), []uint64{0x10000, 3, 8}, "", `[]byte("hel")`},
		{"numbers", gotype.SliceOf(basic("int16")), []uint64{0x17000, 3, 8}, "", "[513 1027 …+1]"},
		{"fewer numbers than are fetched", gotype.SliceOf(basic("int16")), []uint64{0x17000, 1, 8}, "", "[513]"},
		{"nil slice", gotype.SliceOf(basic("int16")), []uint64{0, 0, 0}, "", "nil"},
		{"structs", gotype.SliceOf(inner), []uint64{0x13000, 3, 3}, "", `[{n:1 name:"h"} {n:2 name:"he"} …+1]`},
		{"pointer", gotype.PointerTo(inner), []uint64{0x11000}, "", `&{n:7 name:"hello"}`},
		{"nil pointer", gotype.PointerTo(inner), []uint64{0}, "", "nil"},
		{"pointer to nothing", gotype.PointerTo(inner), []uint64{0x99000}, "", "&<unreadable: no valid pointer>"},
		{"path", gotype.PointerTo(outer), []uint64{0x12000}, "v.in.name", `"hello"`},
		{"path over nil", gotype.PointerTo(outer), []uint64{0x12000}, "v.inner.name", "<unreadable: nil pointer>"},
		{"path over nil at the start", gotype.PointerTo(outer), []uint64{0}, "v.in.name", "<unreadable: nil pointer>"},
		{"path into a slice", gotype.PointerTo(outer), []uint64{0x12000}, "v.items[2].n", "3"},
		{"path behind a slice", gotype.PointerTo(outer), []uint64{0x12000}, "v.items[3].n", "<unreadable: index out of range>"},
		{"nil error", basic("error"), []uint64{0, 0}, "", "nil"},
		{"error", basic("error"), []uint64{0x5400, 0x15000}, "", `*fs.PathError("hell wide: no such file or directory")`},
		{"error of a system call", basic("error"), []uint64{0x5500, 0x15200}, "", `*os.SyscallError("hell: no such file or directory")`},
		{"error with a new itab", basic("error"), []uint64{0x18000, 0x15000}, "", `*fs.PathError("hell wide: no such file or directory")`},
		{"error of no type", basic("error"), []uint64{0x99000, 0x15000}, "", "<unreadable: no valid pointer>"},
		{"error with a number", basic("error"), []uint64{0x18020, 0x11000}, "", `*main.inner(&{n:7 name:"hello"})`},
		{"any of string", basic("any"), []uint64{0x6100, 0x14000}, "", `string("hello")`},
		{"any of int8", basic("any"), []uint64{0x6200, 0x16000}, "", "int8(5)"},
		{"any of pointer", basic("any"), []uint64{0x6300, 0x11000}, "", "*main.inner(&{n:7 name:<not fetched: ask for FUNC(x.(*main.inner).name)>})"},
		{"any of pointer to large", basic("any"), []uint64{0x6600, 0x13000}, "",
			`*main.large(&{n:1 in:{n:2 name:<not fetched: ask for FUNC(x.(*main.large).in.name)>} far:<not fetched: ask for FUNC(x.(*main.large).far)>})`},
		{"any of large", basic("any"), []uint64{0x6700, 0x99000}, "", `main.large(<unreadable: no valid pointer>)`},
		{"error of large that has methods", fewMethods, []uint64{0x18040, 0x13000}, "", `main.large(<not fetched: ask for FUNC(x.(main.large))>)`},
		{"any of unknown", basic("any"), []uint64{0x6999, 0x11000}, "", "<unreadable: dynamic type not known>"},
		{"map", &gotype.Type{Name: "map[int]int", Kind: reflect.Map, Size: 8}, []uint64{0x16000}, "", "map[len 5]"},
		{"chan", &gotype.Type{Name: "chan int", Kind: reflect.Chan, Size: 8}, []uint64{0x16000}, "", "chan[5/9]"},
		{"nil map", &gotype.Type{Name: "map[int]int", Kind: reflect.Map, Size: 8}, []uint64{0}, "", "nil"},
		{"key of a map", swissMap, []uint64{0x1a000}, `v["hello"]`, "7"},
		{"key of a map, behind others", swissMap, []uint64{0x1a000}, `v["hell"]`, "10"},
		{"key that begins as one does", swissMap, []uint64{0x1a000}, `v["help"]`, "<unreadable: no such key>"},
		{"key of an empty map", swissMap, []uint64{0x1a500}, `v["hello"]`, "<unreadable: no such key>"},
		{"key of a nil map", swissMap, []uint64{0}, `v["hello"]`, "<unreadable: no such key>"},
		{"key of no map", swissMap, []uint64{0x99000}, `v["hello"]`, "<unreadable: no valid pointer>"},
		{"key of a large map", swissMap, []uint64{0x1a300}, `v["hello"]`, "<not searched: a map made for more than 8 elements>"},
		{"number as a key", oldMap, []uint64{0x1b000}, `v[7]`, "85"},
		{"negative number as a key", oldMap, []uint64{0x1b000}, `v[-3]`, "102"},
		{"key in an empty slot", oldMap, []uint64{0x1b000}, `v[1]`, "<unreadable: no such key>"},
		{"key in the first bucket", oldMap, []uint64{0x1b200}, `v[7]`, "85"},
		{"key in another bucket", oldMap, []uint64{0x1b200}, `v[8]`, "<not among the first 8 elements>"},
		{"what an interface holds", basic("any"), []uint64{0x6300, 0x11000}, "v.(*main.inner).name", `"hello"`},
		{"what an interface holds by value", basic("any"), []uint64{0x6100, 0x14000}, "v.(string)", `"hello"`},
		{"what an error is", basic("error"), []uint64{0x5400, 0x15000}, "v.(*fs.PathError).Err.(syscall.Errno)", "2"},
		{"what an error with a new itab is", basic("error"), []uint64{0x18000, 0x15000}, "v.(*fs.PathError).Path", `"wide"`},
		{"what an interface does not hold", basic("any"), []uint64{0x6100, 0x14000}, "v.(*main.inner).name", "<unreadable: it is string>"},
		{"what nil holds", basic("error"), []uint64{0, 0}, "v.(*fs.PathError).Path", "<unreadable: nil pointer>"},
		{"what an address is", basic("uintptr"), []uint64{0x11000}, "v.(*main.inner).name", `"hello"`},
		{"word", word, []uint64{0x42}, "", "0x42"},
		{"what a word is", word, []uint64{0x11000}, "v.(*main.inner).name", `"hello"`},
		{"words that may be a string", twoWords, []uint64{0x10000, 5}, "", `~"hello"`},
		{"words that may be a long string", twoWords, []uint64{0x10000, 18}, "", `~"hello, wide worl"…+2`},
		{"words, the second 0", twoWords, []uint64{0x10000, 0}, "", "{0x10000, 0x0}"},
		{"words, the second an address", twoWords, []uint64{0x10000, 0x10000}, "", "{0x10000, 0x10000}"},
		{"words that lead to no text", twoWords, []uint64{0x17000, 9}, "", "{0x17000, 0x9}"},
		{"words that lead nowhere", twoWords, []uint64{0x99000, 3}, "", "{0x99000, 0x3}"},
		{"words that are numbers", twoWords, []uint64{3, 5}, "", "{0x3, 0x5}"},
		{"a part of words", twoWords, []uint64{0x10000, 5}, "v.w1", "0x5"},
		{"func", &gotype.Type{Name: "func()", Kind: reflect.Func, Size: 8}, []uint64{0x16000}, "", "main.at5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			registers := map[string]uint64{}
			for i, r := range []string{"ax", "bx", "cx"} {
				if i < len(c.words) {
					registers[r] = c.words[i]
				}
			}
			m.registers = registers
			var paths []string
			if c.path != "" {
				paths = []string{c.path}
			}
			v := inRegisters("v", c.typ, []arch.Reg{"ax", "bx", "cx"}[:max(1, c.typ.Size/8)]...)
			for _, arrays := range []bool{true, false} {
				opt := options
				opt.Type, opt.Arrays = m.typeNamed, arrays
				capture, err := NewBuilder([]offsets.Variable{v}, opt).Capture(paths, nil)
				fixture.NoError(t, err)
				words := m.fetch(t, capture.Args)
				if len(words) != capture.Words {
					t.Fatalf("%d words, want %d", len(words), capture.Words)
				}
				values := capture.AppendValues(nil, words, m)
				if got := values[0].Text(); got != c.want {
					t.Errorf("arrays %v: got  %s\nwant %s\nfetched %s", arrays, got, c.want, fetched(capture))
				}
			}
		})
	}
}
