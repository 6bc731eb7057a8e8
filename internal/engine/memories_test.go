package engine

import (
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestDynamicTypeCache checks that words outside of the file are not cached, because their number has no limit.
func TestDynamicTypeCache(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "flood"))
	fixture.NoError(t, err)
	defer b.Close()
	f, _ := b.Lookup("main.framed")
	m := NewMemories(b, true)
	p := &memory{Memories: m}
	for i := range uint64(1000) {
		if found := p.DynamicType(1<<60 + i); found != nil {
			t.Fatalf("type %v", found)
		}
		p.DynamicType(f.Addr)
	}
	if n := len(m.types); n != 1 {
		t.Errorf("%d words are remembered, 1 is an address in the file", n)
	}
}
