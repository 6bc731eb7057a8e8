package gotab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// rtypeForm is how a range of Go's versions lays out a runtime._type (runtime/type.go,
// reflect/type.go, internal/abi/type.go). Numbers are byte offsets.
type rtypeForm struct {
	oldest int // minor version of Go

	align, kind, name uint64
	// size is that of the _type, behind which the words follow that depend on the kind;
	// 0 if not known.
	size uint64
	// interned: name and the names of fields are in runtime.types, where a byte of flags
	// and the length precede the text; before, they are addresses of strings.
	interned bool
	// varint: that length is a varint, else 2 bytes, big-endian.
	varint bool
	// shifted: the lowest bit of a field's offset tells an embedded field, the others are
	// the number. flagged: a bit in its name does. Without either it is one without a
	// name.
	shifted, flagged bool
	// directFlag: that a value is its interface's data word is said in tflag, not kind.
	directFlag bool
}

// rtypeForms begin with the latest. Of 1.6 the names and kinds alone are known.
var rtypeForms = []rtypeForm{
	{oldest: 26, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true, directFlag: true},
	{oldest: 20, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true}, // covctrs
	{oldest: 19, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, flagged: true},
	{oldest: 17, align: 21, kind: 23, name: 40, size: 48, interned: true, varint: true, shifted: true},
	{oldest: 9, align: 21, kind: 23, name: 40, size: 48, interned: true, shifted: true}, // type aliases
	{oldest: 7, align: 21, kind: 23, name: 40, size: 48, interned: true},
	{oldest: 6, align: 21, kind: 23, name: 40},
	{oldest: 5, align: 21, kind: 23, name: 40, size: 72},
	{oldest: 4, align: 13, kind: 15, name: 40, size: 72},
}

func rtypeFormOf(minor int) *rtypeForm {
	i := slices.IndexFunc(rtypeForms, func(f rtypeForm) bool { return minor >= f.oldest })
	if i < 0 {
		return nil
	}
	return &rtypeForms[i]
}

// Bits of a _type's tflag, which is a byte at offset 20 since Go 1.7, of its kind, and
// of the flags that precede a name.
const (
	tflagAt        = 20
	tflagExtraStar = 1 << 1
	tflagNamed     = 1 << 2
	tflagDirect    = 1 << 5

	kindMask   = 1<<5 - 1
	kindDirect = 1 << 5

	nameEmbedded = 1 << 3
)

// kindSizes are the sizes of all types of a kind, as the runtime numbers it (reflect.Kind); 0: they
// differ.
var kindSizes = [...]uint64{
	reflect.Bool: 1, reflect.Int: 8, 1, 2, 4, 8, reflect.Uint: 8, 1, 2, 4, 8, reflect.Uintptr: 8,
	reflect.Float32: 4, 8, reflect.Complex64: 8, 16, reflect.Array: 0, reflect.Chan: 8, reflect.Func: 8,
	reflect.Interface: 16, reflect.Map: 8, reflect.Pointer: 8, reflect.Slice: 24, reflect.String: 16,
	reflect.Struct: 0, reflect.UnsafePointer: 8,
}

// plainKind is the kind without the size of its numbers.
func plainKind(k reflect.Kind) reflect.Kind {
	switch {
	case reflect.Int <= k && k <= reflect.Int64:
		return reflect.Int
	case reflect.Uint <= k && k <= reflect.Uintptr:
		return reflect.Uint
	case k == reflect.Float32:
		return reflect.Float64
	case k == reflect.Complex64:
		return reflect.Complex128
	}
	return k
}

// literals are what the names of types that were not declared begin with.
var literals = map[reflect.Kind]string{
	reflect.Array: "[", reflect.Func: "func(", reflect.Interface: "interface {", reflect.Map: "map[",
	reflect.Pointer: "*", reflect.Slice: "[]", reflect.Struct: "struct {",
}

// types is where a program's types are, and those that were asked for.
type types struct {
	form *rtypeForm
	// start is runtime.types, which names count from; end is runtime.etypes. Before Go
	// 1.7 types have no place of their own.
	start, end uint64

	mu    sync.Mutex
	known map[uint64]*gotype.Type
}

// findTypes goes by runtime.firstmoduledata.
func (g *Tables) findTypes() (*types, error) {
	v := g.Version
	if v.Minor == 0 {
		return nil, errors.New("find runtime types: not a Go program")
	}
	t := &types{form: rtypeFormOf(v.Minor), known: make(map[uint64]*gotype.Type)}
	if t.form == nil {
		return nil, fmt.Errorf("find runtime types of %s: version not known", v)
	}
	if !t.form.interned {
		t.end = 1<<64 - 1
		return t, nil
	}
	module := g.module()
	if t.start, t.end = module.types, module.etypes; t.start == 0 || t.start >= t.end || !g.image.Read(t.start, make([]byte, 8)) {
		return nil, fmt.Errorf("find runtime types of %s: no module data", v)
	}
	return t, nil
}

// nameAt reads a name of runtime.types: flags, length, text.
func (g *Tables) nameAt(addr uint64, form *rtypeForm) (name string, flags byte, ok bool) {
	var head [4]byte // a length below image.MaxName has at most three
	if !g.image.Read(addr, head[:]) {
		return "", 0, false
	}
	size, digits := uint64(binary.BigEndian.Uint16(head[1:])), 2
	if form.varint {
		size, digits = binary.Uvarint(head[1:])
	}
	if digits <= 0 {
		return "", 0, false
	}
	name, ok = textAt(g.image, addr+1+uint64(digits), size)
	return name, head[0], ok
}

// textAt reads a text of some bytes.
func textAt(m *image.Image, addr, size uint64) (string, bool) {
	if size >= image.MaxName {
		return "", false
	}
	text := make([]byte, size)
	if size > 0 && !m.Read(addr, text) || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}

// stringVariable reads the string whose header is at an address.
func stringVariable(m *image.Image, addr uint64) (string, bool) {
	var size [8]byte
	start, ok := m.Pointer(addr)
	if !ok || !m.Read(addr+8, size[:]) {
		return "", false
	}
	return textAt(m, start, binary.LittleEndian.Uint64(size[:]))
}
