package gotab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// types is where a program's types are, and those that were asked for.
type types struct {
	form *rtypeForm
	// start is runtime.types, which names count from; end is runtime.etypes. Before Go
	// 1.7 types have no place of their own.
	start, end uint64

	mu    sync.Mutex
	known map[uint64]*gotype.Type
}

// findTypes goes by runtime.firstmoduledata.
func (g *Tables) findTypes() (*types, error) {
	v := g.Version
	if v.Minor == 0 {
		return nil, errors.New("find runtime types: not a Go program")
	}
	t := &types{form: rtypeFormOf(v.Minor), known: make(map[uint64]*gotype.Type)}
	if t.form == nil {
		return nil, fmt.Errorf("find runtime types of %s: version not known", v)
	}
	if !t.form.interned {
		t.end = 1<<64 - 1
		return t, nil
	}
	module := g.module()
	if t.start, t.end = module.types, module.etypes; t.start == 0 || t.start >= t.end || !g.image.Read(t.start, make([]byte, 8)) {
		return nil, fmt.Errorf("find runtime types of %s: no module data", v)
	}
	return t, nil
}

// nameAt reads a name of runtime.types: flags, length, text.
func (g *Tables) nameAt(addr uint64, form *rtypeForm) (name string, flags byte, ok bool) {
	var head [4]byte // a length below image.MaxName has at most three
	if !g.image.Read(addr, head[:]) {
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
	if size > 0 && !g.image.Read(addr+1+uint64(digits), text) || !utf8.Valid(text) {
		return "", 0, false
	}
	return string(text), head[0], true
}

// stringVariable reads the string whose header is at an address.
func stringVariable(m *image.Image, addr uint64) (string, bool) {
	var size [8]byte
	start, ok := m.Pointer(addr)
	if !ok || !m.Read(addr+8, size[:]) {
		return "", false
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n >= image.MaxName {
		return "", false
	}
	text := make([]byte, n)
	if n > 0 && !m.Read(start, text) || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}
