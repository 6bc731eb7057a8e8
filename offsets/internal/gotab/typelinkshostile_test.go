package gotab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// counted counts the bytes that are read of a file.
type counted struct {
	io.ReaderAt
	bytes *int
}

func (c counted) ReadAt(into []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(into, off)
	*c.bytes += n
	return n, err
}

// inMemory is a program whose only segment, at 0x400000, is data, and counts what is read of that. Its
// list of types is at 0x400000 and its types begin at 0x400040.
func inMemory(t *testing.T, data []byte) (b *Tables, read *int) {
	whole := openPath(t, buildTypes(t, fixture.Current, "-ldflags=-s"))
	const base = 0x400000
	m, read := *whole.image, new(int)
	header := elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Vaddr: base, Filesz: uint64(len(data)), Memsz: uint64(len(data))}
	m.ELF = &elf.File{FileHeader: m.ELF.FileHeader, Progs: []*elf.Prog{{ProgHeader: header, ReaderAt: counted{bytes.NewReader(data), read}}}}
	b = &Tables{image: &m, Version: Version{Minor: 18}}
	b.module = func() module {
		return module{types: base + 64, etypes: 1<<64 - 8, typelinks: base}
	}
	own := b.newTypes(base+64, 1<<64-8)
	b.types = func() (*types, error) { return own, nil }
	return b, read
}

// TestTypesListTooLong: what the file claims to list is no reason to ask for memory.
func TestTypesListTooLong(t *testing.T) {
	for _, count := range []uint64{1 << 61, 1 << 57, 1 << 34} {
		data := binary.LittleEndian.AppendUint64(nil, 0x400000)
		data = append(binary.LittleEndian.AppendUint64(data, count), make([]byte, 1<<12)...)
		b, _ := inMemory(t, data)
		if typ, err := b.RuntimeTypeNamed("main.T"); err == nil {
			t.Errorf("%d types: %v", count, typ)
		}
	}
}

// TestTypesNamesOverlap: thousands of types whose long names overlap take no more time than the file is long.
func TestTypesNamesOverlap(t *testing.T) {
	const n, typeAt = 2000, 1 << 15
	data := make([]byte, 64+typeAt+48*n, 64+typeAt+48*n+8*n)
	// Wherever such a name begins, it has 16,452 bytes: flags, two bytes and one of length, text.
	copy(data[64:], strings.Repeat("\x01\xc4\x80", typeAt/3))
	binary.LittleEndian.PutUint64(data, 0x400000+uint64(len(data)))
	binary.LittleEndian.PutUint64(data[8:], 2*n)
	for i := range n {
		head := data[64+typeAt+48*i:]
		head[tflagAt], head[23] = tflagNamed, 2
		binary.LittleEndian.PutUint32(head[rtypeName:], 3+3*uint32(i))
	}
	for i := range 2 * n {
		data = binary.LittleEndian.AppendUint32(data, typeAt+48*uint32(i%n))
	}
	b, read := inMemory(t, data)
	if typ, err := b.RuntimeTypeNamed("main.T"); err == nil {
		t.Errorf("%v", typ)
	}
	if most := 2 * int(b.image.MaxSize()); *read > most {
		t.Errorf("%d bytes read of %d, want %d at most", *read, len(data), most)
	}
}

// TestTypesAlike: an error lists but some of the types that have one name.
func TestTypesAlike(t *testing.T) {
	const n = 500
	data := binary.LittleEndian.AppendUint64(nil, 0x400000+4096)
	data = append(binary.LittleEndian.AppendUint64(data, n), make([]byte, 8192-16)...)
	copy(data[64+8:], "\x01\x06main.T")
	for i := range n {
		at := len(data) - 64
		head := make([]byte, 48)
		head[tflagAt], head[23] = tflagNamed, 2
		head[rtypeName] = 8
		data = append(data, head...)
		binary.LittleEndian.PutUint32(data[4096+4*i:], uint32(at))
	}
	b, _ := inMemory(t, data)
	if typ, err := b.RuntimeTypeNamed("main.T"); err == nil || len(err.Error()) > 200 {
		t.Errorf("%v, %v", typ, err)
	}
}

// TestWaitReasonsRepeated: that the file has a reason's text thousands of times is no reason to search it
// so often.
func TestWaitReasonsRepeated(t *testing.T) {
	data := bytes.Repeat([]byte(reasonsBegin[1]), 2000)
	b, read := inMemory(t, data)
	if names := b.WaitReasons(); !slices.Equal(names, nil) {
		t.Errorf("%q", names)
	}
	if *read > 100*len(data) {
		t.Errorf("%d bytes read of %d", *read, len(data))
	}
}
