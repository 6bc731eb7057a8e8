package gotab

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Method is a method of a type that the program knows as it runs, by which interfaces and package reflect call it.
type Method struct {
	Receiver        *gotype.Type
	Params, Results []*gotype.Type
}

const (
	// A method is name, type, and the code that interfaces call and that others do, of four bytes each.
	methodSize, methodType, methodCode = 16, 4, 12
	// An uncommontype is package, numbers of methods and of exported ones, where these are, and nothing (internal/abi/type.go).
	uncommonSize, uncommonCount, uncommonMethods = 16, 4, 8
	// nearOwner is how far most methods are behind their types, maxOwner how far any are: fields may be in between.
	nearOwner, maxOwner = 1 << 12, 1 << 18
	// scanned is how many functions are looked for one by one: each time all types are read.
	scanned = 16
	// chunk is how much of the types is read at once.
	chunk = 1 << 18
)

// Method finds the method whose code is at an address, by all types of the program, since none of
// them is listed by its methods. Its receiver's name is accepted or not.
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

// mentions are the addresses among the types of words that have a value, that of a function's code.
func (g *Tables) mentions(t *types, code uint32) (found []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mentioned != nil {
		return t.mentioned[code]
	}
	if t.scans++; t.scans > scanned {
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

// allMentions is mentions of all functions.
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

// eachChunk calls found with all of the types, which begin at a multiple of 4 in each part.
func (g *Tables) eachChunk(t *types, found func(addr uint64, data []byte)) {
	buf := make([]byte, chunk)
	end := min(t.end, t.start+g.image.Most())
	for addr := t.start; addr < end; addr += chunk {
		data := buf[:min(chunk, end-addr)]
		if !g.image.Read(addr, data) {
			return
		}
		found(addr, data)
	}
}

// owner is the address of the type whose methods the one at an address is among: the nearest
// before it that says so, and whose name is accepted.
func (g *Tables) owner(t *types, method uint64, accept func(name string) bool) (addr uint64, ok bool) {
	for size := uint64(nearOwner); size <= maxOwner && !ok; size *= 8 {
		addr, ok = g.ownerWithin(t, method, size, accept)
	}
	return addr, ok
}

// ownerWithin looks at so many bytes before a method.
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

// maxDetail is more than what follows the _type of any kind, a map's as well.
const maxDetail = 96

// describes tells whether a _type has methods behind so many bytes of what follows it.
func (g *Tables) describes(t *types, head []byte, detail uint64) bool {
	kind := t.kind(head)
	return head[tflagAt]&tflagUncommon != 0 && kind != reflect.Invalid && (detailSizes[kind] == detail) != (kind == reflect.Map)
}

func (g *Tables) typeName(t *types, addr uint64) (string, bool) {
	var head [48]byte
	if !g.image.Read(addr, head[:]) {
		return "", false
	}
	r := rtypeReader{Tables: g, types: t}
	name, err := r.name(addr, head[:], t.kind(head[:]))
	return name, err == nil
}

// variadic is a bit in the number of a func's results.
const variadic = 1 << 15

// funcType reads a runtime.functype: numbers of parameters and results, then, behind uncommontype, their types.
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

// maxParams is more than any function has that people write.
const maxParams = 256
