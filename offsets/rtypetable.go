package offsets

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"
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
	symbols, _ := b.symbols(elf.SHT_SYMTAB) // damaged ones are as good as none
	for _, s := range symbols {
		switch s.name {
		case "runtime.types":
			t.start = s.addr
		case "runtime.etypes":
			t.end = s.addr
		}
	}
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
		last, ok1 := b.pointer(addr + 8)
		from, ok2 := b.pointer(addr + at)
		to, ok3 := b.pointer(addr + at + 8)
		if ok1 && ok2 && ok3 && last == maxpc && from != 0 && from < to && b.readData(from, make([]byte, 8)) {
			start, end, ok = from, to, true
		}
		return ok
	}
	b.scanData(binary.LittleEndian.AppendUint64(nil, minpc), func(p *elf.Prog, at uint64) bool {
		return at%8 != 0 || !found(p.Vaddr+at)
	})
	for _, r := range b.relocationList() {
		if ok || r.value == minpc && found(r.addr) {
			break
		}
	}
	return start, end, ok
}

// nameAt reads a name of runtime.types: flags, length, text.
func (b *Binary) nameAt(addr uint64, form *rtypeForm) (name string, flags byte, ok bool) {
	var head [4]byte // a length below maxName has at most three
	if !b.readData(addr, head[:]) {
		return "", 0, false
	}
	size, digits := uint64(binary.BigEndian.Uint16(head[1:])), 2
	if form.varint {
		size, digits = binary.Uvarint(head[1:])
	}
	if digits <= 0 || size >= maxName {
		return "", 0, false
	}
	text := make([]byte, size)
	if size > 0 && !b.readData(addr+1+uint64(digits), text) || !utf8.Valid(text) {
		return "", 0, false
	}
	return string(text), head[0], true
}

// stringVariable reads the string whose header is at an address.
func (b *Binary) stringVariable(addr uint64) (string, bool) {
	var size [8]byte
	start, ok := b.pointer(addr)
	if !ok || !b.readData(addr+8, size[:]) {
		return "", false
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n >= maxName {
		return "", false
	}
	text := make([]byte, n)
	if n > 0 && !b.readData(start, text) || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}
