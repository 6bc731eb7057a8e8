package gotab

import (
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// fields reads runtime.structtype: a slice of fields, behind the package since Go 1.7.
// A field is its name, type and offset, of words; before Go 1.7 name, package, type, tag
// and offset (reflect.structField).
func (r *rtypeReader) fields(t *gotype.Type, at uint64) bool {
	size, typeAt, offsetAt := uint64(40), uint64(16), uint64(32)
	if r.table.form.interned {
		at += 8
		size, typeAt, offsetAt = 24, 8, 16
	}
	start, ok1 := r.tables.image.Pointer(at)
	count, ok2 := r.tables.image.Pointer(at + 8)
	if !ok1 || !ok2 || r.table.form.size == 0 || count > maxHeldBytes/size {
		return false
	}
	end := int64(0)
	for ; count > 0; count, start = count-1, start+size {
		typ, ok1 := r.heldAt(start + typeAt)
		offset, ok2 := r.tables.image.Pointer(start + offsetAt)
		if !ok1 || !ok2 {
			return false
		}
		f := gotype.Field{Type: typ}
		if r.table.form.shifted {
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
	// Types of size 0 can hold more of each other than anyone can list.
	if t.Size == 0 {
		t.Fields = nil
	}
	return true
}

// fieldName reads the name whose address is at an address.
func (r *rtypeReader) fieldName(f *gotype.Field, at uint64) bool {
	form := r.table.form
	addr, ok := r.tables.image.Pointer(at)
	switch {
	case !ok:
		return false
	case form.interned && addr != 0:
		var flags byte
		if f.Name, flags, ok = r.tables.nameAt(addr, form); !ok {
			return false
		}
		if form.flagged {
			f.Embedded = flags&nameEmbedded != 0
		}
	case addr != 0:
		if f.Name, ok = stringVariable(r.tables.image, addr); !ok {
			return false
		}
	}
	if f.Name == "" {
		// Before Go 1.9 an embedded field has the name of its type.
		f.Embedded = true
		f.Name = strings.TrimPrefix(f.Type.Name, "*")
		f.Name = f.Name[strings.LastIndexByte(f.Name, '.')+1:]
	}
	return true
}
