package offsets

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
)

// member is a field of a struct in debug information.
type member struct {
	offset int64 // bytes from the start of the struct
	typ    dwarf.Offset
}

// seekStruct goes to the first member of the struct type of that name, which is looked
// for from an offset on, where it is most likely, and then from the start.
func seekStruct(r *entryReader, name string, from dwarf.Offset) error {
	r.r.Seek(from)
	err := nextStruct(r, name)
	if err != nil && from > 0 {
		r.r.Seek(0)
		err = nextStruct(r, name)
	}
	return err
}

func nextStruct(r *entryReader, name string) error {
	for {
		e, err := r.next()
		if err != nil {
			return fmt.Errorf("read debug information: %w", err)
		}
		if e == nil {
			return fmt.Errorf("find type %s: not in debug information", name)
		}
		if e.Tag == dwarf.TagStructType && e.Children && e.Val(dwarf.AttrName) == name {
			return nil
		}
	}
}

// enterStruct goes to the first member of the struct type at an offset, which may have
// more names.
func enterStruct(r *entryReader, at dwarf.Offset) error {
	for range 8 {
		r.r.Seek(at)
		e, err := r.next()
		if err != nil {
			return fmt.Errorf("read debug information: %w", err)
		}
		if e == nil {
			break
		}
		if e.Tag == dwarf.TagStructType && e.Children {
			return nil
		}
		next, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if e.Tag != dwarf.TagTypedef || !ok {
			break
		}
		at = next
	}
	return errors.New("read debug information: no struct where one should be")
}

// members reads the members of the struct that the reader is in.
func members(r *entryReader) (map[string]member, error) {
	found := make(map[string]member)
	for depth := 1; depth > 0; {
		e, err := r.next()
		if err != nil {
			return nil, fmt.Errorf("read debug information: %w", err)
		}
		switch {
		case e == nil:
			return found, nil
		case e.Tag == 0:
			depth--
			continue
		case e.Children:
			depth++
		}
		name, ok1 := e.Val(dwarf.AttrName).(string)
		typ, ok2 := e.Val(dwarf.AttrType).(dwarf.Offset)
		offset, ok3 := memberOffset(e.Val(dwarf.AttrDataMemberLoc))
		if e.Tag == dwarf.TagMember && ok1 && ok2 && ok3 {
			found[name] = member{offset, typ}
		}
	}
	return found, nil
}

// memberOffset decodes DW_AT_data_member_location: a number, or, as linkers of Go up to
// 1.9 wrote it, the expression DW_OP_plus_uconst N (DWARF 4, 2.5.1.4).
func memberOffset(val any) (int64, bool) {
	switch v := val.(type) {
	case int64:
		return v, true
	case []byte:
		const plusUconst = 0x23
		if len(v) < 2 || v[0] != plusUconst {
			return 0, false
		}
		n, size := binary.Uvarint(v[1:])
		return int64(n), size > 0 && n < 1<<31
	}
	return 0, false
}
