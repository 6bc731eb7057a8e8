package gotab

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

const (
	// A method has four fields of four bytes: name, type, the code that interfaces call, and the code for other calls.
	methodSize, methodType, methodCode = 16, 4, 12
	// An uncommontype has the package, the number of all methods, the number of exported methods, the offset of the methods,
	// and an unused field (internal/abi/type.go).
	uncommonSize, uncommonCount, uncommonMethods = 16, 4, 8
	// maxOwner is the maximum distance in bytes of a method from its type. The fields of a struct may be in between.
	maxOwner = 1 << 18
	// maxMentions is the maximum number of words that may be the method of a function.
	maxMentions = 1000
	// chunk is the number of bytes of types to read at once.
	chunk = 1 << 18
)

// Method finds the method whose code is at an address in the data through which interfaces and package reflect call methods.
// The first of params is the receiver. Method searches all types of the program, because the program has no index of methods.
// It ignores types whose name accept rejects.
func (g *Tables) Method(addr uint64, accept func(receiver string) bool) (params, results []*gotype.Type, ok bool) {
	t, err := g.types()
	module := g.module()
	if err != nil || g.Version.Minor < firstInterned || addr-module.text >= 1<<32 {
		return nil, nil, false
	}
	for _, at := range t.mentioned()[uint32(addr-module.text)] {
		owner, found := t.owner(at-methodCode, accept)
		if !found {
			continue
		}
		var entry [methodSize]byte
		g.image.Read(at-methodCode, entry[:])
		typ := t.start + uint64(binary.LittleEndian.Uint32(entry[methodType:]))
		receiver, err := g.RuntimeType(owner)
		if err != nil {
			continue
		}
		if params, results, ok = t.funcType(typ); ok {
			return slices.Insert(params, 0, receiver), results, true
		}
	}
	return nil, nil, false
}

// mentions returns the addresses of the words in the type data that equal the offset of a function's code, by that offset.
func (r *types) mentions() map[uint32][]uint64 {
	all, table, text := make(map[uint32][]uint64), r.functions(), r.module().text
	for i := range table.count {
		all[uint32(table.entry(i)-text)] = nil
	}
	buf, end := make([]byte, chunk), min(r.end, r.start+r.image.MaxSize())
	for addr := r.start; addr < end; addr += chunk {
		data := buf[:min(chunk, end-addr)]
		if !r.image.Read(addr, data) {
			break
		}
		for at := 0; at+4 <= len(data); at += 4 {
			code := binary.LittleEndian.Uint32(data[at:])
			if list, ok := all[code]; ok && len(list) < maxMentions {
				all[code] = append(list, addr+uint64(at))
			}
		}
	}
	return all
}

// owner returns the address of the type that a method at an address belongs to: the nearest type before the method that
// lists the method and has a name that accept accepts.
func (r *types) owner(method uint64, accept func(name string) bool) (addr uint64, ok bool) {
	start := max(r.start, method-min(method, maxOwner))
	start += -start & 7
	if method < start || method >= r.end {
		return 0, false
	}
	data := make([]byte, method-start)
	if !r.image.Read(start, data) {
		return 0, false
	}
	for at := len(data)&^7 - uncommonSize; at >= 0; at -= 8 {
		uncommon := data[at:]
		first := uint64(at) + uint64(binary.LittleEndian.Uint32(uncommon[uncommonMethods:]))
		count := uint64(binary.LittleEndian.Uint16(uncommon[uncommonCount:]))
		in := uint64(len(data)) - first
		if first < uint64(at)+uncommonSize || first > uint64(len(data)) || in%methodSize != 0 || in/methodSize >= count {
			continue
		}
		for detail := 0; detail <= maxDetail && detail+int(r.size) <= at; detail += 8 {
			if head := data[at-detail-int(r.size):]; r.describes(head, uint64(detail)) {
				addr := start + uint64(at-detail-int(r.size))
				if name, ok := r.typeName(addr); ok && accept(name) {
					return addr, true
				}
			}
		}
	}
	return 0, false
}

// maxDetail is more than the number of bytes that follow the _type of any kind, including maps.
const maxDetail = 96

// describes reports whether head is a _type with an uncommontype that follows after detail bytes. For a map it accepts any
// number of bytes but 0.
func (r *types) describes(head []byte, detail uint64) bool {
	kind := r.kind(head)
	return head[tflagAt]&tflagUncommon != 0 && kind != reflect.Invalid && (detailSizes[kind] == detail) != (kind == reflect.Map)
}

// typeName returns the name of the type at an address.
func (r *types) typeName(addr uint64) (string, bool) {
	var head [48]byte
	if !r.image.Read(addr, head[:]) {
		return "", false
	}
	name, err := r.name(addr, head[:], r.kind(head[:]))
	return name, err == nil
}

// variadic is a flag in a func type's number of results.
const variadic = 1 << 15

// funcType reads a runtime.functype: the numbers of parameters and results and, after the uncommontype, their types.
func (r *types) funcType(addr uint64) (params, results []*gotype.Type, ok bool) {
	var head [48 + 8]byte
	if addr%8 != 0 || addr <= r.start || addr >= r.end || !r.image.Read(addr, head[:]) || r.kind(head[:]) != reflect.Func {
		return nil, nil, false
	}
	in := int(binary.LittleEndian.Uint16(head[r.size:]))
	out := int(binary.LittleEndian.Uint16(head[r.size+2:])) &^ variadic
	at := addr + r.size + 8
	if head[tflagAt]&tflagUncommon != 0 {
		at += uncommonSize
	}
	if in+out > maxParams {
		return nil, nil, false
	}
	all := make([]*gotype.Type, in+out)
	for i := range all {
		typ, ok := r.image.Pointer(at + 8*uint64(i))
		if !ok {
			return nil, nil, false
		}
		var err error
		if all[i], err = r.RuntimeType(typ); err != nil {
			return nil, nil, false
		}
	}
	return slices.Clip(all[:in]), all[in:], true
}

// maxParams is the maximum number of parameters and results that funcType accepts.
const maxParams = 256
