package target

import (
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestListSameName: static functions of C and assembly may share a name.
func TestListSameName(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	l := newListing(b)
	once, ok := b.Lookup("main.once")
	if !ok || l.named["main.once"] != 1 {
		t.Fatalf("%d functions main.once", l.named["main.once"])
	}
	l.named["main.once"]++
	if err := l.function(once); err != nil {
		t.Fatal(err)
	}
	if want := "one of 2 functions of this name"; l.rows[0].Note != want {
		t.Errorf("note %q, want %q", l.rows[0].Note, want)
	}
}
