package gotab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestTableInPieces: a table that is read in pieces has the functions of the one that
// is read at once, but for what is not asked of it.
func TestTableInPieces(t *testing.T) {
	for _, version := range []string{"1.18.10", "1.20.14", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			table := findTable(b.image)
			if table == nil || table.data != nil {
				t.Fatalf("not in pieces: %v", table != nil)
			}
			got, err := table.list()
			if err != nil {
				t.Fatal(err)
			}
			want, err := b.whole().list()
			if err != nil || len(got.List) != len(want.List) || len(got.List) < 1000 || got.end != want.end || got.Names != nil {
				t.Fatalf("%d functions with %d names in pieces, %d at once, %v", len(got.List), len(got.Names), len(want.List), err)
			}
			for i, f := range want.List {
				if f.Size = 0; got.List[i] != f {
					t.Errorf("%+v in pieces, %+v at once", got.List[i], f)
				}
			}
		})
	}
}

// TestTableCodeSize: the table has the sizes that .symtab has.
func TestTableCodeSize(t *testing.T) {
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			if b.Version.Minor <= b.image.Processor.Machine().LastPadded {
				t.Skip("its .symtab has the padding, too")
			}
			funcs, err := b.whole().list()
			if err != nil {
				t.Fatal(err)
			}
			sizes := make(map[uint64]uint64)
			err = b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
				if s.Kind == elf.STT_FUNC {
					sizes[s.Addr] = s.Size
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, f := range funcs.List {
				size, ok := sizes[f.Addr]
				if !ok || f.Size == 0 {
					continue
				}
				if compared++; uint64(f.Size) != size {
					t.Errorf("%s: %d bytes, .symtab has %d", funcs.Names[i], f.Size, size)
				}
			}
			if compared < 1000 || compared < len(funcs.List)*9/10 {
				t.Errorf("only %d of %d functions compared", compared, len(funcs.List))
			}
		})
	}
}

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, at)
}

// TestTableToAndFro: a damaged table, each of whose functions leads to another end of
// it, is given up.
func TestTableToAndFro(t *testing.T) {
	const n, size, funcs = 1 << 14, 1 << 20, 72
	le := binary.LittleEndian
	data := make([]byte, size)
	copy(data, smallTable()[:funcs])
	le.PutUint64(data[8:], n)
	le.PutUint64(data[8+56:], funcs)
	for i := range n {
		le.PutUint32(data[funcs+8*i:], uint32(16*i))
		le.PutUint32(data[funcs+8*i+4:], uint32(8*n+8+i%2*(size/2)))
	}
	le.PutUint32(data[funcs+8*n:], 16*n)
	r := &counted{ReaderAt: bytes.NewReader(data)}
	table := &table{pieces: newPieces(r, size), form: forms[data[0]], quantum: 1}
	if err := table.readHeader(data); err != nil {
		t.Fatal(err)
	}
	if funcs, err := table.list(); err == nil {
		t.Errorf("%d functions", len(funcs.List))
	}
	if r.bytes > 8*size {
		t.Errorf("%d bytes read of a table of %d", r.bytes, size)
	}
}
