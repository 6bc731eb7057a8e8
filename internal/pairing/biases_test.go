package pairing

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestBiases(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "flood", "-buildmode=pie"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f, _ := b.Lookup("main.framed")
	p, err := uprobe.New(b, []*offsets.Func{f}, uprobe.Options{Features: tracefs.Features{Memory: true, Instances: true, Append: true, PushEmulated: true}})
	if err != nil {
		t.Fatal(err)
	}
	entry, ret := &p.Events[0], &p.Events[1]
	addr, off := entry.Sites[0].Addr, entry.Sites[0].Offset
	const bias = 0x7f1200000000
	bias7 := func(s *Stream, event int, addr uint64) (uint64, bool) {
		return s.bias(s.process(7), &parse.Event{Format: event, Addr: addr})
	}
	newBiases := func(mappings func(int) ([]procfs.Mapping, error)) *Stream {
		s := newStream(p)
		s.opt.Mappings = mappings
		return s
	}
	calls := 0
	mapped := func(int) ([]procfs.Mapping, error) {
		calls++
		return []procfs.Mapping{{Start: 1, End: 2}, {Start: addr + bias - 0x10, End: addr + bias + 0x1000, Offset: off - 0x10, Inode: b.File().Inode()}}, nil
	}
	s := newBiases(mapped)
	for range 3 {
		if got, ok := bias7(s, 0, addr+bias); !ok || got != bias {
			t.Errorf("bias %#x, %v; want %#x", got, ok, uint64(bias))
		}
	}
	if calls != 1 {
		t.Errorf("mappings were read %d times, want once", calls)
	}
	gone := func(int) ([]procfs.Mapping, error) { return nil, fmt.Errorf("gone") }
	if got, ok := bias7(newBiases(gone), 0, addr+bias); !ok || got != bias {
		t.Errorf("process gone: bias %#x, %v; want %#x", got, ok, uint64(bias))
	}
	// The mappings are read when the process starts, and not readable later.
	s = newBiases(mapped)
	s.Learn(7)
	s.opt.Mappings = gone
	if got, ok := bias7(s, 0, addr+bias); !ok || got != bias {
		t.Errorf("learnt: bias %#x, %v; want %#x", got, ok, uint64(bias))
	}
	// Two sites have the same page offset, so one address does not decide.
	entry.Sites = append(entry.Sites, uprobe.Site{Addr: addr + 0x5000, Offset: off + 0x5000})
	s = newBiases(gone)
	if got, ok := bias7(s, 0, addr+bias); ok {
		t.Errorf("bias %#x of two that are possible", got)
	}
	if got, ok := bias7(s, 1, ret.Sites[0].Addr+bias); !ok || got != bias {
		t.Errorf("bias %#x, %v of an address that tells; want %#x", got, ok, uint64(bias))
	}
	// The process executes the file again. The old bias would make the address that of another site.
	entry.Sites = append(entry.Sites, uprobe.Site{Addr: addr - 0x5000})
	at := uint64(bias)
	s = newBiases(func(int) ([]procfs.Mapping, error) {
		return []procfs.Mapping{{Start: addr + at - 0x10000, End: addr + at + 0x1000, Offset: off - 0x10000, Inode: b.File().Inode()}}, nil
	})
	const moved = bias - 0x5000
	before, _ := bias7(s, 0, addr+moved)
	at = moved
	bias7(s, 1, ret.Sites[0].Addr+moved)
	if after, ok := bias7(s, 0, addr+moved); before != bias || !ok || after != moved {
		t.Errorf("bias %#x, then %#x, %v; want %#x and %#x", before, after, ok, uint64(bias), uint64(moved))
	}
}
