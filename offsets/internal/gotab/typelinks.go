package gotab

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// RuntimeTypeNamed finds a type by the name that %T prints, or by its name with the whole import path: "*http.response",
// "*net/http.response", "[]uint8". It returns an error if the program has no such type or several.
func (g *Tables) RuntimeTypeNamed(name string) (*gotype.Type, error) {
	t, err := g.types()
	if err != nil {
		return nil, err
	}
	named, err := t.named()
	if err != nil {
		return nil, fmt.Errorf("find type %s: %w", name, err)
	}
	known := asTheRuntime(name)
	found := named[known]
	if len(found) == 0 {
		found = named[anyPackage+shortName(known)]
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("find type %s: the program has none, or never in an interface", name)
	case 1:
		return g.RuntimeType(found[0])
	}
	var full []string
	for _, addr := range found[:min(len(found), maxListed)] {
		path, _ := t.packagePath(addr)
		full = append(full, fullName(known, cmp.Or(path, "?")))
	}
	return nil, fmt.Errorf("find type %s: the program has %d: %s", name, len(found), strings.Join(full, ", "))
}

// anyPackage begins the names under which linkedTypes lists types of unknown packages.
const anyPackage = "?"

// maxListed is the maximum number of types in an error.
const maxListed = 5

// aliases maps the aliases of predeclared types to the names that %T prints.
var aliases = map[string]string{"byte": "uint8", "rune": "int32", "any": "interface {}"}

var words = regexp.MustCompile(`[\pL\pN_./-]+`)

// asTheRuntime replaces aliases in a type's name. It replaces whole words only, because the name of a package may contain an
// alias.
func asTheRuntime(name string) string {
	return words.ReplaceAllStringFunc(name, func(word string) string { return cmp.Or(aliases[word], word) })
}

// shortName returns the name that %T prints for the name of a declared type, or of a pointer to one, with an import path.
func shortName(name string) string {
	base := strings.TrimLeft(name, "*")
	path, _, _ := strings.Cut(base, "[")
	if strings.ContainsAny(path, "({ ") {
		return name
	}
	return name[:len(name)-len(base)] + base[strings.LastIndexByte(path, '/')+1:]
}

// fullName replaces the package in a name that %T prints by the import path.
func fullName(name, path string) string {
	base := strings.TrimLeft(name, "*")
	_, declared, _ := strings.Cut(base, ".")
	return name[:len(name)-len(base)] + path + "." + declared
}

// linkedTypes returns the addresses of types by the name that %T prints, and by the name with the import path, or with
// anyPackage if the path is unknown. The linker lists only undeclared types. Pointer types are among the undeclared types, so
// linkedTypes adds the types that the listed pointer types point to.
func (r *types) linkedTypes() (map[string][]uint64, error) {
	list, err := r.listed()
	if err != nil {
		return nil, err
	}
	named := make(map[string][]uint64)
	seen := make(map[uint64]bool)
	budget := int64(r.image.MaxSize()) // bytes of names; only overlapping names exceed it
	add := func(addr uint64) (kind reflect.Kind) {
		var head [48]byte
		if seen[addr] || addr%8 != 0 || addr < r.start || addr >= r.end || !r.image.Read(addr, head[:]) {
			return reflect.Invalid
		}
		seen[addr] = true
		kind = r.kind(head[:])
		name, err := r.name(addr, head[:], kind)
		if err != nil {
			budget -= image.MaxName // name may have read that much
			return reflect.Invalid
		}
		path, ok := r.packagePath(addr)
		if budget -= int64(len(name) + len(path)); !ok {
			budget -= image.MaxName
		}
		named[name] = append(named[name], addr)
		full := anyPackage + name
		if path != "" {
			full = fullName(name, path)
		}
		if full != name {
			named[full] = append(named[full], addr)
		}
		return kind
	}
	for _, offset := range list {
		addr := r.start + uint64(offset)
		if budget <= 0 {
			break
		}
		if add(addr) == reflect.Pointer {
			if elem, ok := r.image.Pointer(addr + r.size); ok {
				add(elem)
			}
		}
	}
	if budget <= 0 {
		return nil, errors.New("names are longer than the file")
	}
	return named, nil
}

// listed returns the offsets of the types that the linker lists. Since Go 1.27 there is no list: these types follow each
// other, a word after the start of all types (moduleTypelinks in runtime/type.go).
func (r *types) listed() (offsets []uint32, err error) {
	missing := errors.New("no list of types")
	module := r.module()
	switch {
	case module.typedesclen > 0:
		for at := uint64(8); at != module.typedesclen; {
			size := r.descriptorSize(r.start + at)
			if size == 0 || at > module.typedesclen {
				return nil, missing
			}
			offsets, at = append(offsets, uint32(at)), at+size
		}
		return offsets, nil
	case module.typelinks == 0:
		return nil, fmt.Errorf("not known of %s", r.Version)
	}
	start, ok1 := r.image.Pointer(module.typelinks)
	count, ok2 := r.image.Pointer(module.typelinks + 8)
	if !ok1 || !ok2 || count > min(r.end-r.start, r.image.MaxSize())/4 {
		return nil, missing
	}
	list := make([]byte, 4*count)
	if !r.image.Read(start, list) {
		return nil, missing
	}
	for ; len(list) > 0; list = list[4:] {
		offsets = append(offsets, binary.LittleEndian.Uint32(list))
	}
	return offsets, nil
}

// descriptorSize returns the size in bytes of a _type with all data that follow it (DescriptorSize in internal/abi/type.go,
// since Go 1.27), or 0 if it finds no type at the address.
func (r *types) descriptorSize(addr uint64) uint64 {
	var head [72]byte // includes the numbers of parts of funcs, structs and interfaces
	if !r.image.Read(addr, head[:]) {
		return 0
	}
	number := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint16(head[r.size+at:])) }
	kind := r.kind(head[:])
	size := r.size + detailSizes[kind]
	parts := uint64(0)
	switch kind {
	case reflect.Invalid:
		return 0
	case reflect.Map:
		size += 88
	case reflect.Func:
		parts = 8 * (number(0) + number(2)&^variadic)
	case reflect.Struct:
		parts = 24 * number(16)
	case reflect.Interface:
		parts = 8 * number(16)
	}
	if head[tflagAt]&tflagUncommon != 0 {
		var uncommon [uncommonSize]byte
		if !r.image.Read(addr+size, uncommon[:]) {
			return 0
		}
		parts += uncommonSize + methodSize*uint64(binary.LittleEndian.Uint16(uncommon[uncommonCount:]))
	}
	return size + parts
}

// detailSizes holds the number of bytes that follow the _type of a kind (internal/abi/type.go).
var detailSizes = map[reflect.Kind]uint64{
	reflect.Pointer: 8, reflect.Func: 8, reflect.Slice: 8, reflect.Array: 24, reflect.Chan: 16,
	reflect.Struct: 32, reflect.Interface: 32,
}

// packagePath returns the import path of a declared type, or of the type that a pointer leads to. path is "" if the type has
// none, ok is false if the path can't be read. The uncommontype begins with the offset of the path (internal/abi/type.go;
// runtime/type.go).
func (r *types) packagePath(addr uint64) (path string, ok bool) {
	var head [48]byte
	for range 4 { // pointers to pointers
		if !r.image.Read(addr, head[:]) {
			return "", true
		}
		kind := r.kind(head[:])
		if kind != reflect.Pointer || head[tflagAt]&tflagNamed != 0 {
			var offset [4]byte
			if head[tflagAt]&tflagUncommon == 0 || kind == reflect.Map || !r.image.Read(addr+r.size+detailSizes[kind], offset[:]) {
				return "", true // the size of a map type depends on the version
			}
			path, _, ok = r.nameAt(r.start + uint64(binary.LittleEndian.Uint32(offset[:])))
			return path, ok
		}
		addr, _ = r.image.Pointer(addr + r.size)
	}
	return "", true
}
