package gotab

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Method is a method in the data of a runtime type. Interfaces and package reflect call methods through these data.
type Method struct {
	Receiver        *gotype.Type
	Params, Results []*gotype.Type
}

const (
	// A method has four fields of four bytes: name, type, the code that interfaces call, and the code for other calls.
	methodSize, methodType, methodCode = 16, 4, 12
	// An uncommontype has the package, the number of all methods, the number of exported methods, the offset of the methods,
	// and an unused field (internal/abi/type.go).
	uncommonSize, uncommonCount, uncommonMethods = 16, 4, 8
	// nearOwner is the distance in bytes of most methods from their types, maxOwner the maximum. The fields of a struct may
	// be in between.
	nearOwner, maxOwner = 1 << 12, 1 << 18
	// maxScans is the number of functions to search for one by one. Each search reads all types. For further functions, one
	// scan indexes the methods of all functions.
	maxScans = 16
	// chunk is the number of bytes of types to read at once.
	chunk = 1 << 18
)

// Method finds the method whose code is at an address. It searches all types of the program, because the program has no
// index of methods. Method ignores types whose name accept rejects.
func (g *Tables) Method(addr uint64, accept func(receiver string) bool) (m Method, ok bool) {
	t, err := g.types()
	module := g.module()
	if err != nil || !t.form.interned || addr-module.text >= 1<<32 {
		return m, false
	}
	for _, at := range g.mentions(t, uint32(addr-module.text)) {
		owner, found := g.owner(t, at-methodCode, accept)
		if !found {
			continue
		}
		var entry [methodSize]byte
		g.image.Read(at-methodCode, entry[:])
		typ := t.start + uint64(binary.LittleEndian.Uint32(entry[methodType:]))
		if m.Receiver, err = g.RuntimeType(owner); err != nil {
			continue
		}
		if m.Params, m.Results, ok = g.funcType(t, typ); ok {
			return m, true
		}
	}
	return m, false
}

// mentions returns the addresses of the words in the type data that equal code, the offset of a function's code.
func (g *Tables) mentions(t *types, code uint32) (found []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mentioned != nil {
		return t.mentioned[code]
	}
	if t.scans++; t.scans > maxScans {
		t.mentioned = g.allMentions(t)
		return t.mentioned[code]
	}
	pattern := binary.LittleEndian.AppendUint32(nil, code)
	g.eachChunk(t, func(addr uint64, data []byte) {
		for at := 0; ; at++ {
			next := bytes.Index(data[at:], pattern)
			if next < 0 {
				return
			}
			if at += next; at%4 == 0 && len(found) < maxAlike {
				found = append(found, addr+uint64(at))
			}
		}
	})
	return found
}

// allMentions returns the result of mentions for all functions, by the offset of their code.
func (g *Tables) allMentions(t *types) map[uint32][]uint64 {
	all, table, text := make(map[uint32][]uint64), g.functions(), g.module().text
	for i := range table.count {
		all[uint32(table.entry(i)-text)] = nil
	}
	g.eachChunk(t, func(addr uint64, data []byte) {
		for at := 0; at+4 <= len(data); at += 4 {
			code := binary.LittleEndian.Uint32(data[at:])
			if list, ok := all[code]; ok && len(list) < maxAlike {
				all[code] = append(list, addr+uint64(at))
			}
		}
	})
	return all
}

// eachChunk calls found with the bytes of all types, in chunks. The address of each chunk is a multiple of 4.
func (g *Tables) eachChunk(t *types, found func(addr uint64, data []byte)) {
	buf := make([]byte, chunk)
	end := min(t.end, t.start+g.image.MaxSize())
	for addr := t.start; addr < end; addr += chunk {
		data := buf[:min(chunk, end-addr)]
		if !g.image.Read(addr, data) {
			return
		}
		found(addr, data)
	}
}

// owner returns the address of the type that a method at an address belongs to: the nearest type before the method that
// lists the method and has a name that accept accepts.
func (g *Tables) owner(t *types, method uint64, accept func(name string) bool) (addr uint64, ok bool) {
	for size := uint64(nearOwner); size <= maxOwner && !ok; size *= 8 {
		addr, ok = g.ownerWithin(t, method, size, accept)
	}
	return addr, ok
}

// ownerWithin searches the size bytes before a method for its owner.
func (g *Tables) ownerWithin(t *types, method, size uint64, accept func(name string) bool) (addr uint64, ok bool) {
	start := max(t.start, method-min(method, size))
	start += -start & 7
	if method < start || method >= t.end {
		return 0, false
	}
	data := make([]byte, method-start)
	if !g.image.Read(start, data) {
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
		for detail := 0; detail <= maxDetail && detail+int(t.form.size) <= at; detail += 8 {
			if head := data[at-detail-int(t.form.size):]; g.describes(t, head, uint64(detail)) {
				addr := start + uint64(at-detail-int(t.form.size))
				if name, ok := g.typeName(t, addr); ok && accept(name) {
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
func (g *Tables) describes(t *types, head []byte, detail uint64) bool {
	kind := t.kind(head)
	return head[tflagAt]&tflagUncommon != 0 && kind != reflect.Invalid && (detailSizes[kind] == detail) != (kind == reflect.Map)
}

// typeName returns the name of the type at an address.
func (g *Tables) typeName(t *types, addr uint64) (string, bool) {
	var head [48]byte
	if !g.image.Read(addr, head[:]) {
		return "", false
	}
	r := rtypeReader{Tables: g, types: t}
	name, err := r.name(addr, head[:], t.kind(head[:]))
	return name, err == nil
}

// variadic is a flag in a func type's number of results.
const variadic = 1 << 15

// funcType reads a runtime.functype: the numbers of parameters and results and, after the uncommontype, their types.
func (g *Tables) funcType(t *types, addr uint64) (params, results []*gotype.Type, ok bool) {
	var head [48 + 8]byte
	if addr%8 != 0 || addr <= t.start || addr >= t.end || !g.image.Read(addr, head[:]) || t.kind(head[:]) != reflect.Func {
		return nil, nil, false
	}
	in := int(binary.LittleEndian.Uint16(head[t.form.size:]))
	out := int(binary.LittleEndian.Uint16(head[t.form.size+2:])) &^ variadic
	at := addr + t.form.size + 8
	if head[tflagAt]&tflagUncommon != 0 {
		at += uncommonSize
	}
	if in+out > maxParams {
		return nil, nil, false
	}
	all := make([]*gotype.Type, in+out)
	for i := range all {
		typ, ok := g.image.Pointer(at + 8*uint64(i))
		if !ok {
			return nil, nil, false
		}
		var err error
		if all[i], err = g.RuntimeType(typ); err != nil {
			return nil, nil, false
		}
	}
	return slices.Clip(all[:in]), all[in:], true
}

// maxParams is the maximum number of parameters and results that funcType accepts.
const maxParams = 256
