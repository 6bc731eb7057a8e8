package gotab

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
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
	t.mu.Lock()
	if t.named == nil && t.unnamed == nil {
		t.named, t.unnamed = g.linkedTypes(t)
	}
	named, err := t.named, t.unnamed
	t.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("find type %s: %w", name, err)
	}
	short, pkg := shortName(asTheRuntime(name))
	var found []uint64
	var paths []string
	find := func(addrs []uint64, known bool) {
		for _, addr := range addrs[:min(len(addrs), maxAlike)] {
			if path := g.packagePath(t, addr); pkg == path || !known && (pkg == "" || path == "") {
				found, paths = append(found, addr), append(paths, path)
			}
		}
	}
	if find(named[short], false); len(found) == 0 && pkg != "" { // the package of math/rand/v2 is named rand
		for other, addrs := range named {
			if sameButPackage(other, short) {
				find(addrs, true)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("find type %s: the program has none, or never in an interface", name)
	case 1:
		return g.RuntimeType(found[0])
	}
	return nil, fmt.Errorf("find type %s: the program has several: %s", name, tellApart(short, paths))
}

// tellApart returns a hint how to write the names of several types with one short name. paths are the import paths of
// their packages, "" for an unknown one.
func tellApart(short string, paths []string) string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	unknown := paths[0] == ""
	if unknown {
		paths = paths[1:]
	}
	base := strings.TrimLeft(short, "*")
	var names []string
	for _, path := range paths[:min(len(paths), maxListed)] {
		names = append(names, short[:len(short)-len(base)]+path+base[strings.IndexByte(base, '.'):])
	}
	text := strings.Join(names, " or ")
	switch more := len(paths) - len(names); {
	case names == nil:
		return "their packages are not known"
	case more > 0:
		text += fmt.Sprintf(" or %d more", more)
	}
	if unknown {
		text += "; the package of another is not known"
	}
	return "write " + text
}

const (
	// maxAlike is the maximum number of types with one name that a search considers. Large programs have some hundreds.
	maxAlike = 1000
	// maxListed is the maximum number of packages in an error.
	maxListed = 5
)

// aliases maps the aliases of predeclared types to the names that %T prints.
var aliases = map[string]string{"byte": "uint8", "rune": "int32", "any": "interface {}"}

var words = regexp.MustCompile(`[\pL\pN_./-]+`)

// asTheRuntime replaces aliases in a type's name. It replaces whole words only, because the name of a package may contain an
// alias.
func asTheRuntime(name string) string {
	return words.ReplaceAllStringFunc(name, func(word string) string { return cmp.Or(aliases[word], word) })
}

// shortName splits the name of a declared type, or of a pointer to one, into the name that %T prints and the import path.
// pkg is "" if the name has no path.
func shortName(name string) (short, pkg string) {
	base := strings.TrimLeft(name, "*")
	path, _, _ := strings.Cut(base, "[")
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.ContainsAny(path, "({ ") {
		return name, ""
	}
	if dot := strings.LastIndexByte(path, '.'); dot > slash {
		pkg = path[:dot]
	}
	return name[:len(name)-len(base)] + base[slash+1:], pkg
}

// sameButPackage reports whether two names of declared types, or of pointers to them, differ only in their packages.
func sameButPackage(a, b string) bool {
	split := func(name string) (stars int, pkg, declared string) {
		base := strings.TrimLeft(name, "*")
		path, args, _ := strings.Cut(base, "[")
		dot := strings.LastIndexByte(path, '.') + 1
		return len(name) - len(base), path[:dot], path[dot:] + "[" + args
	}
	starsA, pkgA, declaredA := split(a)
	starsB, pkgB, declaredB := split(b)
	return starsA == starsB && declaredA == declaredB && pkgA != "" && pkgB != ""
}

// linkedTypes returns the addresses of types by name. The linker lists only undeclared types. Pointer types are among the
// undeclared types, so linkedTypes adds the types that the listed pointer types point to.
func (g *Tables) linkedTypes(t *types) (map[string][]uint64, error) {
	list, err := g.listed(t)
	if err != nil {
		return nil, err
	}
	r := rtypeReader{Tables: g, types: t}
	named := make(map[string][]uint64)
	seen := make(map[uint64]bool)
	budget := int64(g.image.MaxSize()) // bytes of names; only overlapping names exceed it
	add := func(addr uint64) (kind reflect.Kind) {
		var head [48]byte
		if seen[addr] || addr%8 != 0 || addr < t.start || addr >= t.end || !g.image.Read(addr, head[:]) {
			return reflect.Invalid
		}
		seen[addr] = true
		kind = t.kind(head[:])
		name, err := r.name(addr, head[:], kind)
		if err != nil {
			budget -= image.MaxName // name may have read that much
			return reflect.Invalid
		}
		budget -= int64(len(name))
		named[name] = append(named[name], addr)
		return kind
	}
	for _, offset := range list {
		addr := t.start + uint64(offset)
		if budget <= 0 {
			break
		}
		if add(addr) == reflect.Pointer {
			if elem, ok := g.image.Pointer(addr + t.form.size); ok {
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
func (g *Tables) listed(t *types) (offsets []uint32, err error) {
	missing := errors.New("no list of types")
	module := g.module()
	switch {
	case module.typedesclen > 0:
		for at := uint64(8); at != module.typedesclen; {
			size := g.descriptorSize(t, t.start+at)
			if size == 0 || at > module.typedesclen {
				return nil, missing
			}
			offsets, at = append(offsets, uint32(at)), at+size
		}
		return offsets, nil
	case module.typelinks == 0:
		return nil, fmt.Errorf("not known of %s", g.Version)
	}
	start, ok1 := g.image.Pointer(module.typelinks)
	count, ok2 := g.image.Pointer(module.typelinks + 8)
	if !ok1 || !ok2 || count > min(t.end-t.start, g.image.MaxSize())/4 {
		return nil, missing
	}
	list := make([]byte, 4*count)
	if !g.image.Read(start, list) {
		return nil, missing
	}
	for ; len(list) > 0; list = list[4:] {
		offsets = append(offsets, binary.LittleEndian.Uint32(list))
	}
	return offsets, nil
}

// descriptorSize returns the size in bytes of a _type with all data that follow it (DescriptorSize in internal/abi/type.go,
// since Go 1.27), or 0 if it finds no type at the address.
func (g *Tables) descriptorSize(t *types, addr uint64) uint64 {
	var head [72]byte // includes the numbers of parts of funcs, structs and interfaces
	if !g.image.Read(addr, head[:]) {
		return 0
	}
	number := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint16(head[t.form.size+at:])) }
	kind := t.kind(head[:])
	size := t.form.size + detailSizes[kind]
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
		if !g.image.Read(addr+size, uncommon[:]) {
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

// packagePath returns the import path of a declared type, or of the type that a pointer leads to, or "" if it is unknown.
// The uncommontype begins with the offset of this path (internal/abi/type.go; runtime/type.go).
func (g *Tables) packagePath(t *types, addr uint64) string {
	var head [48]byte
	for range maxNesting {
		if !g.image.Read(addr, head[:]) {
			return ""
		}
		kind := t.kind(head[:])
		if kind == reflect.Pointer && head[tflagAt]&tflagNamed == 0 {
			to, ok := g.image.Pointer(addr + t.form.size)
			if !ok || to == addr {
				return ""
			}
			addr = to
			continue
		}
		if head[tflagAt]&tflagUncommon == 0 || kind == reflect.Map { // the size of a map type depends on the version
			return ""
		}
		var offset [4]byte
		if !g.image.Read(addr+t.form.size+detailSizes[kind], offset[:]) {
			return ""
		}
		r := rtypeReader{Tables: g, types: t}
		path, _, _ := r.nameAt(t.start + uint64(binary.LittleEndian.Uint32(offset[:])))
		return path
	}
	return ""
}
