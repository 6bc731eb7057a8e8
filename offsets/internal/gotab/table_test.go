package gotab

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// smallTable is a table of Go 1.20 and later: two functions, f from 0 to 16 and g to
// 48, and the offsets in it of what tests damage.
func smallTable() []byte {
	const names, funcs, size = 72, 80, 160
	le := binary.LittleEndian
	data := make([]byte, size)
	copy(data, "\xf1\xff\xff\xff\x00\x00\x01\x08")
	for word, value := range map[int]uint64{0: 2, 2: 0x1000, 3: names, 4: names, 5: names, 6: names, 7: funcs} {
		le.PutUint64(data[8+8*word:], value)
	}
	copy(data[names:], "\x00f\x00g\x00")
	for i, n := range []uint32{0, 24, 16, 30, 48} { // (entry, offset of _func)
		le.PutUint32(data[funcs+4*i:], n)
	}
	le.PutUint32(data[funcs+24+4:], 1) // f's name
	le.PutUint32(data[funcs+30+4:], 3) // g's
	return data
}

func TestTableDamaged(t *testing.T) {
	le := binary.LittleEndian
	const count, names, functab = 8, 72, 80
	for _, c := range []struct {
		name   string
		damage func(data []byte) []byte
		ok     bool
	}{
		{"sound", func(d []byte) []byte { return d }, true},
		{"empty", func(d []byte) []byte { return nil }, false},
		{"header only", func(d []byte) []byte { return d[:8] }, false},
		{"unknown form", func(d []byte) []byte { d[0] = 0xf2; return d }, false},
		{"no functions", func(d []byte) []byte { d[count] = 0; return d }, false},
		{"more functions than bytes", func(d []byte) []byte { d[count] = 200; return d }, false},
		{"count that overflows", func(d []byte) []byte { le.PutUint64(d[count:], 1<<61); return d }, false},
		{"functions beyond the end", func(d []byte) []byte { le.PutUint64(d[count+56:], 1<<63); return d }, false},
		{"cut in the functions", func(d []byte) []byte { return d[:functab+16] }, false},
		{"names beyond the end", func(d []byte) []byte { le.PutUint64(d[count+24:], 1<<40); return d }, false},
		{"a name without end", func(d []byte) []byte {
			le.PutUint32(d[functab+30+4:], uint32(len(d)-names-1))
			d[len(d)-1] = 'g'
			return d
		}, false},
		{"descending addresses", func(d []byte) []byte { le.PutUint32(d[functab+8:], 64); return d }, false},
		{"an empty name", func(d []byte) []byte { d[names+1] = 0; return d }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, names := listed(c.damage(smallTable()))
			sound := slices.Equal(names, []string{"f", "g"}) && list[1].End == 0x1000+48
			if sound != c.ok {
				t.Errorf("%q", names)
			}
		})
	}
}

// listed are the functions of a table, with names.
func listed(data []byte) (list []Func, names []string) {
	table, err := openTable(bytes.NewReader(data), uint64(len(data)), 0)
	if err != nil || !table.sorted() {
		return nil, nil
	}
	list = table.list()
	for _, f := range list {
		names = append(names, f.Name())
	}
	return list, names
}

// TestTableOverlappingNames: names that are parts of each other don't add up to more
// than the table.
func TestTableOverlappingNames(t *testing.T) {
	const n, names, funcs = 1000, 72, 72 + 2000
	le := binary.LittleEndian
	data := make([]byte, funcs+n*50)
	copy(data, smallTable()[:names])
	le.PutUint64(data[8:], n)
	le.PutUint64(data[8+56:], funcs)
	for i := range names + 1999 - names {
		data[names+i] = 'a'
	}
	for i := range n {
		info := 8*n + 4 + 40*i
		le.PutUint32(data[funcs+8*i:], uint32(16*i))
		le.PutUint32(data[funcs+8*i+4:], uint32(info))
		le.PutUint32(data[funcs+info+4:], uint32(i))
	}
	le.PutUint32(data[funcs+8*n:], 16*n)
	if _, names := listed(data); len(names) != n || len(strings.Join(names, "")) > 2*len(data) {
		t.Errorf("%d names, %d bytes, in a table of %d", len(names), len(strings.Join(names, "")), len(data))
	}
}

// FuzzTable: no table makes the reader panic or return more than it holds.
func FuzzTable(f *testing.F) {
	f.Add(smallTable())
	for form := range forms {
		data := smallTable()
		data[0] = form
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		size := 0
		list, names := listed(data)
		for i, f := range list {
			size += len(names[i])
			if f.CodeSize() > image.MaxCode || f.End <= f.Addr {
				t.Errorf("function %d: %+v", i, f)
			}
		}
		if size > 2*len(data) {
			t.Errorf("%d bytes of names in a table of %d", size, len(data))
		}
	})
}
