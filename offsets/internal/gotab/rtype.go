package gotab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// The layout of a runtime._type depends on the version of Go (runtime/type.go, reflect/type.go, internal/abi/type.go). Since
// firstInterned, the names of types and fields are in runtime.types, each as a byte of flags, the length and the text. Before,
// they are addresses of strings. The other constants say since when the length of a name is a varint (before, it has 2 bytes,
// big-endian), when the lowest bit of a field's offset marks an embedded field and the other bits are the offset, when a flag
// of the field's name marks it (before both, an embedded field has no name), and when a flag in tflag, not in kind, marks types
// whose value is the data word of an interface.
const (
	firstInterned   = 7
	firstShifted    = 9
	firstVarint     = 17
	firstFlagged    = 19
	firstDirectFlag = 26
)

// The offsets of a _type's name and tflag (since Go 1.7), and bits of tflag, of the kind, and of the flags before a name.
const (
	rtypeName = 40
	rtypeKind = 23 // the alignment is two bytes before it

	tflagAt        = 20
	tflagUncommon  = 1 << 0
	tflagExtraStar = 1 << 1
	tflagNamed     = 1 << 2
	tflagDirect    = 1 << 5

	kindMask   = 1<<5 - 1
	kindDirect = 1 << 5

	nameEmbedded = 1 << 3
)

// kindSizes holds the size of the types of a kind (reflect.Kind), 0 if their sizes differ.
var kindSizes = [...]uint64{
	reflect.Bool: 1, reflect.Int: 8, 1, 2, 4, 8, reflect.Uint: 8, 1, 2, 4, 8, reflect.Uintptr: 8,
	reflect.Float32: 4, 8, reflect.Complex64: 8, 16, reflect.Array: 0, reflect.Chan: 8, reflect.Func: 8,
	reflect.Interface: 16, reflect.Map: 8, reflect.Pointer: 8, reflect.Slice: 24, reflect.String: 16,
	reflect.Struct: 0, reflect.UnsafePointer: 8,
}

// plainKind returns a kind without the size of numbers: Int for Int8, Float64 for Float32.
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

// literals holds the text that the name of an undeclared type of a kind begins with.
var literals = map[reflect.Kind]string{
	reflect.Array: "[", reflect.Func: "func(", reflect.Interface: "interface {", reflect.Map: "map[",
	reflect.Pointer: "*", reflect.Slice: "[]", reflect.Struct: "struct {",
}

// nameAt reads the name at an address: flags, length and text in runtime.types, before Go 1.7 a string.
func (r *types) nameAt(addr uint64) (name string, flags byte, ok bool) {
	if r.Version.Minor < firstInterned {
		name, ok = stringVariable(r.image, addr)
		return name, 0, ok
	}
	var head [4]byte // the flags and a length, which has at most three bytes below image.MaxName
	if !r.image.Read(addr, head[:]) {
		return "", 0, false
	}
	size, digits := uint64(binary.BigEndian.Uint16(head[1:])), 2
	if r.Version.Minor >= firstVarint {
		size, digits = binary.Uvarint(head[1:])
	}
	if digits <= 0 {
		return "", 0, false
	}
	name, ok = textAt(r.image, addr+1+uint64(digits), size)
	return name, head[0], ok
}

// textAt reads size bytes of text. ok is false if they are not valid UTF-8.
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
	start, ok1 := m.Pointer(addr)
	size, ok2 := m.Pointer(addr + 8)
	if !ok1 || !ok2 {
		return "", false
	}
	return textAt(m, start, size)
}

// RuntimeType decodes the runtime._type at a virtual address of the file, without load bias. Such an address is the first
// word of an interface without methods, or the result of ItabType. RuntimeType needs neither symbols nor debug information.
// It returns an error if the type is damaged or not in the file: package reflect makes types at run time. The name of the
// type is the name that %T prints. If only the part of the data that depends on the kind is damaged, the kind is Invalid.
// Elem reads the file at its first call.
func (g *Tables) RuntimeType(addr uint64) (*gotype.Type, error) {
	t, err := g.types()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.budget = make(map[uint64]bool), maxHeldBytes
	typ, err := t.read(addr)
	if err != nil {
		return nil, fmt.Errorf("read type at %#x: %w", addr, err)
	}
	return typ, nil
}

const (
	// maxHeldBytes is about the maximum memory in bytes of a type with all types that it contains by value.
	maxHeldBytes = 1 << 20
	// maxNesting is the maximum depth of nested structs and arrays.
	maxNesting = 100
	// maxTypeSize is larger than any type that the compiler allows (cmd/compile/internal/amd64/galign.go).
	maxTypeSize = 1<<50 + 1
)

// read reads a type with all types that it contains by value.
func (r *types) read(addr uint64) (*gotype.Type, error) {
	if known, ok := r.known[addr]; ok {
		return known, nil
	}
	if addr%8 != 0 || addr < r.start || addr >= r.end {
		return nil, errors.New("not a type")
	}
	var head [48]byte // holds all fields that are used, in every form
	if !r.image.Read(addr, head[:]) {
		return nil, errors.New("not in the file")
	}
	size, align, number := binary.LittleEndian.Uint64(head[:]), head[rtypeKind-2], head[rtypeKind]
	n := number & kindMask
	if n == 0 || int(n) >= len(kindSizes) {
		return nil, fmt.Errorf("unknown kind %d", n)
	}
	if size >= maxTypeSize || kindSizes[n] != 0 && size != kindSizes[n] || align == 0 || align > 64 || align&(align-1) != 0 {
		return nil, fmt.Errorf("%d bytes, aligned to %d, of kind %d", size, align, n)
	}
	kind := plainKind(reflect.Kind(n))
	name, err := r.name(addr, head[:], kind)
	if err != nil {
		return nil, err
	}
	known := &gotype.Type{Name: name, Kind: kind, Size: int64(size), Align: int64(align), Direct: number&kindDirect != 0}
	if r.Version.Minor >= firstDirectFlag {
		known.Direct = head[tflagAt]&tflagDirect != 0
	}
	r.budget -= 256 + len(name)
	r.open[addr] = true
	r.detail(known, addr)
	delete(r.open, addr)
	r.known[addr] = known
	return known, nil
}

// name returns the name of the type whose _type begins with head.
func (r *types) name(addr uint64, head []byte, kind reflect.Kind) (string, error) {
	if r.Version.Minor < firstInterned {
		at, ok := r.image.Pointer(addr + rtypeName)
		name, _, known := r.nameAt(at)
		if !ok || !known || name == "" {
			return "", errors.New("no name")
		}
		return name, nil
	}
	offset := binary.LittleEndian.Uint32(head[rtypeName:])
	if offset == 0 || uint64(offset) >= r.end-r.start {
		return "", errors.New("no name")
	}
	name, _, ok := r.nameAt(r.start + uint64(offset))
	if ok && head[tflagAt]&tflagExtraStar != 0 {
		name, ok = strings.CutPrefix(name, "*")
	}
	declared := head[tflagAt]&tflagNamed != 0 || kind == reflect.Struct && strings.HasPrefix(name, "map.")
	if !ok || name == "" || !declared && !strings.HasPrefix(name, literals[kind]) {
		return "", fmt.Errorf("name %.100q of kind %d", name, kind)
	}
	return name, nil
}

// detail reads the words after the _type at an address, which depend on its kind.
func (r *types) detail(t *gotype.Type, addr uint64) {
	first := addr + r.size
	var ok bool
	switch t.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		t.SetElem(r.typeAt(first))
		return
	case reflect.Map: // the types of key, element and group (or bucket) of both
		t.SetElem(r.typeAt(first + 8))
		t.SetGroup(r.typeAt(first + 16))
		return
	case reflect.Array:
		ok = r.array(t, first)
	case reflect.Struct:
		ok = r.fields(t, first)
	case reflect.Interface:
		ok = r.methods(t, first)
	default:
		return
	}
	if !ok {
		t.Kind, t.Fields = reflect.Invalid, nil
	}
}

// typeAt returns a func that reads the type whose address is stored at an address.
func (r *types) typeAt(at uint64) func() *gotype.Type {
	tables, known := r.Tables, r.size != 0
	return func() *gotype.Type {
		addr, ok := tables.image.Pointer(at)
		if !ok || !known {
			return nil
		}
		typ, _ := tables.RuntimeType(addr)
		return typ
	}
}

// array reads the rest of a runtime.arraytype: the element's type, a slice type, the length.
func (r *types) array(t *gotype.Type, at uint64) bool {
	elem, ok1 := r.heldAt(at)
	length, ok2 := r.image.Pointer(at + 16)
	if !ok1 || !ok2 || length >= maxTypeSize {
		return false
	}
	if size := uint64(elem.Size); size > maxTypeSize/max(length, 1) || size*length != uint64(t.Size) {
		return false
	}
	t.Len = int64(length)
	t.SetElem(func() *gotype.Type { return elem })
	return true
}

// methods reads the number of methods in a runtime.interfacetype. They are a slice, which follows the package since Go
// 1.7.
func (r *types) methods(t *gotype.Type, at uint64) bool {
	if r.Version.Minor >= firstInterned {
		at += 8
	}
	n, ok := r.image.Pointer(at + 8)
	t.Methods = n > 0
	return ok && n < 1<<16
}

// heldAt reads the type whose address is stored at an address. Values of that type are parts of the type being read.
func (r *types) heldAt(at uint64) (*gotype.Type, bool) {
	addr, ok := r.image.Pointer(at)
	if !ok || r.size == 0 || r.open[addr] || len(r.open) > maxNesting || r.budget < 0 {
		return nil, false
	}
	held, err := r.read(addr)
	return held, err == nil
}

// fields reads the rest of a runtime.structtype: a slice of fields, which follows the package since Go 1.7. A field has
// the words name, type and offset, before Go 1.7 name, package, type, tag and offset (reflect.structField).
func (r *types) fields(t *gotype.Type, at uint64) bool {
	size, typeAt, offsetAt := uint64(40), uint64(16), uint64(32)
	if r.Version.Minor >= firstInterned {
		at += 8
		size, typeAt, offsetAt = 24, 8, 16
	}
	start, ok1 := r.image.Pointer(at)
	count, ok2 := r.image.Pointer(at + 8)
	if !ok1 || !ok2 || r.size == 0 || count > maxHeldBytes/size {
		return false
	}
	end := int64(0)
	for ; count > 0; count, start = count-1, start+size {
		typ, ok1 := r.heldAt(start + typeAt)
		offset, ok2 := r.image.Pointer(start + offsetAt)
		if !ok1 || !ok2 {
			return false
		}
		f := gotype.Field{Type: typ}
		if r.Version.Minor >= firstShifted && r.Version.Minor < firstFlagged {
			f.Embedded, offset = offset&1 != 0, offset>>1
		}
		f.Offset = int64(offset)
		if offset >= maxTypeSize || f.Offset < end || f.Offset+typ.Size > t.Size || !r.fieldName(&f, start) {
			return false
		}
		end = f.Offset + typ.Size
		if r.budget -= 64 + len(f.Name); r.budget < 0 {
			return false
		}
		t.Fields = append(t.Fields, f)
	}
	// Types of size 0 can contain each other so often that the list of their fields would not fit into memory.
	if t.Size == 0 {
		t.Fields = nil
	}
	return true
}

// fieldName reads the name of a field. The name's address is stored at an address.
func (r *types) fieldName(f *gotype.Field, at uint64) bool {
	addr, ok := r.image.Pointer(at)
	if ok && addr != 0 {
		var flags byte
		f.Name, flags, ok = r.nameAt(addr)
		f.Embedded = f.Embedded || r.Version.Minor >= firstFlagged && flags&nameEmbedded != 0
	}
	if !ok {
		return false
	}
	if f.Name == "" {
		// Before Go 1.9 an embedded field has the name of its type.
		f.Embedded = true
		f.Name = strings.TrimPrefix(f.Type.Name, "*")
		f.Name = f.Name[strings.LastIndexByte(f.Name, '.')+1:]
	}
	return true
}

// ItabType returns the address of the concrete type in the itab at an address, which is the first word of an interface
// with methods (runtime.itab: the interface type, the concrete type). ok is false for itabs that the program makes at
// run time, because they are not in the file.
func (g *Tables) ItabType(addr uint64) (typ uint64, ok bool) {
	if addr%8 != 0 {
		return 0, false
	}
	inter, ok1 := g.image.Pointer(addr)
	typ, ok2 := g.image.Pointer(addr + 8)
	if !ok1 || !ok2 || inter == 0 || typ == 0 {
		return 0, false
	}
	// Check that these words are really an itab.
	if i, err := g.RuntimeType(inter); err != nil || i.Kind != reflect.Interface || !i.Methods {
		return 0, false
	}
	_, err := g.RuntimeType(typ)
	return typ, err == nil
}
