package offsets

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// rtypeTable is where a program's types are, and those that were asked for.
type rtypeTable struct {
	once sync.Once
	err  error
	form *rtypeForm
	// start is runtime.types, which names count from; end is runtime.etypes. Before Go
	// 1.7 types have no place of their own.
	start, end uint64

	mu    sync.Mutex
	known map[uint64]RuntimeType
}

func (b *Binary) rtypes() (*rtypeTable, error) {
	t := &b.types
	t.once.Do(func() {
		t.known = make(map[uint64]RuntimeType)
		t.err = b.findTypes(t)
	})
	return t, t.err
}

// findTypes goes by symbols, or, in a stripped file, by runtime.firstmoduledata.
func (b *Binary) findTypes(t *rtypeTable) error {
	v, ok := b.GoVersion()
	if !ok {
		return errors.New("find runtime types: not a Go program")
	}
	if t.form = rtypeFormOf(v.Minor); t.form == nil {
		return fmt.Errorf("find runtime types of %s: version not known", v)
	}
	if !t.form.interned {
		t.end = 1<<64 - 1
		return nil
	}
	// Damaged ones are as good as none.
	b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		switch s.Name {
		case "runtime.types":
			t.start = s.Addr
		case "runtime.etypes":
			t.end = s.Addr
		}
	})
	if t.start != 0 && t.start < t.end {
		return nil
	}
	if t.start, t.end, ok = b.typesOfModule(t.form.types); !ok {
		return fmt.Errorf("find runtime types of %s: no symbols, and no module data", v)
	}
	return nil
}

// typesOfModule finds runtime.firstmoduledata (runtime/symtab.go) by minpc and maxpc in
// it: the function table tells both. at is where types and etypes are, from minpc on.
func (b *Binary) typesOfModule(at uint64) (start, end uint64, ok bool) {
	table := b.openPclntab()
	if table == nil {
		return 0, 0, false
	}
	minpc, maxpc := table.entry(0), table.entry(table.count)
	found := func(addr uint64) bool {
		last, ok1 := b.image.Pointer(addr + 8)
		from, ok2 := b.image.Pointer(addr + at)
		to, ok3 := b.image.Pointer(addr + at + 8)
		if ok1 && ok2 && ok3 && last == maxpc && from != 0 && from < to && b.image.Read(from, make([]byte, 8)) {
			start, end, ok = from, to, true
		}
		return ok
	}
	b.image.ScanPointers(minpc, func(addr uint64) bool { return !found(addr) })
	return start, end, ok
}

// nameAt reads a name of runtime.types: flags, length, text.
func (b *Binary) nameAt(addr uint64, form *rtypeForm) (name string, flags byte, ok bool) {
	var head [4]byte // a length below image.MaxName has at most three
	if !b.image.Read(addr, head[:]) {
		return "", 0, false
	}
	size, digits := uint64(binary.BigEndian.Uint16(head[1:])), 2
	if form.varint {
		size, digits = binary.Uvarint(head[1:])
	}
	if digits <= 0 || size >= image.MaxName {
		return "", 0, false
	}
	text := make([]byte, size)
	if size > 0 && !b.image.Read(addr+1+uint64(digits), text) || !utf8.Valid(text) {
		return "", 0, false
	}
	return string(text), head[0], true
}

// stringVariable reads the string whose header is at an address.
func (b *Binary) stringVariable(addr uint64) (string, bool) {
	var size [8]byte
	start, ok := b.image.Pointer(addr)
	if !ok || !b.image.Read(addr+8, size[:]) {
		return "", false
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n >= image.MaxName {
		return "", false
	}
	text := make([]byte, n)
	if n > 0 && !b.image.Read(start, text) || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}
