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
	once, ok := b.Lookup("main.once")
	if !ok {
		t.Fatal("no main.once")
	}
	row, err := functionRow(b, once, false, 2, nil)
	if want := "one of 2 functions of this name"; err != nil || row.Note != want {
		t.Errorf("note %q, %v; want %q", row.Note, err, want)
	}
}
