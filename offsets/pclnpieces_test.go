package offsets

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPclntabInPieces: a table that is read in pieces has the functions of the one that
// is read at once, but for what is not asked of it.
func TestPclntabInPieces(t *testing.T) {
	for _, version := range []string{"1.18.10", "1.20.14", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			table := b.openPclntab()
			if table == nil || table.data != nil {
				t.Fatalf("not in pieces: %v", table != nil)
			}
			got, err := table.funcs()
			if err != nil {
				t.Fatal(err)
			}
			want, err := b.pclntab().funcs()
			if err != nil || len(got.list) != len(want.list) || len(got.list) < 1000 || got.end != want.end || got.names != nil {
				t.Fatalf("%d functions with %d names in pieces, %d at once, %v", len(got.list), len(got.names), len(want.list), err)
			}
			for i, f := range want.list {
				if f.size = 0; got.list[i] != f {
					t.Errorf("%+v in pieces, %+v at once", got.list[i], f)
				}
			}
		})
	}
}

// TestPclntabCodeSize: the table has the sizes that .symtab has.
func TestPclntabCodeSize(t *testing.T) {
	for _, version := range releases() {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "exact"))
			if b.padded() {
				t.Skip("its .symtab has the padding, too")
			}
			funcs, err := b.pclntab().funcs()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, f := range funcs.list {
				in, ok := b.FuncAt(f.addr)
				if !ok || in.Addr != f.addr || f.size == 0 {
					continue
				}
				if compared++; uint64(f.size) != in.Size {
					t.Errorf("%s: %d bytes, .symtab has %d", funcs.names[i], f.size, in.Size)
				}
			}
			if compared < 1000 || compared < len(funcs.list)*9/10 {
				t.Errorf("only %d of %d functions compared", compared, len(funcs.list))
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

// TestPclntabToAndFro: a damaged table, each of whose functions leads to another end of
// it, is given up.
func TestPclntabToAndFro(t *testing.T) {
	const n, size, funcs = 1 << 14, 1 << 20, 72
	le := binary.LittleEndian
	data := make([]byte, size)
	copy(data, smallPclntab()[:funcs])
	le.PutUint64(data[8:], n)
	le.PutUint64(data[8+56:], funcs)
	for i := range n {
		le.PutUint32(data[funcs+8*i:], uint32(16*i))
		le.PutUint32(data[funcs+8*i+4:], uint32(8*n+8+i%2*(size/2)))
	}
	le.PutUint32(data[funcs+8*n:], 16*n)
	r := &counted{ReaderAt: bytes.NewReader(data)}
	table := &pclntab{pieces: newPclnPieces(r, size), form: pclnForms[data[0]], quantum: 1}
	if err := table.readHeader(); err != nil {
		t.Fatal(err)
	}
	if funcs, err := table.funcs(); err == nil {
		t.Errorf("%d functions", len(funcs.list))
	}
	if r.bytes > 8*size {
		t.Errorf("%d bytes read of a table of %d", r.bytes, size)
	}
}
