package target

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestListSameName checks the note of a name that several functions share, as static functions of C and assembly may.
func TestListSameName(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "lines"))
	once, ok := b.Lookup("main.once")
	if !ok {
		t.Fatal("no main.once")
	}
	row, err := functionRow(b, once, false, 2, nil)
	if want := "one of 2 functions of this name"; err != nil || row.Note != want {
		t.Errorf("note %q, %v; want %q", row.Note, err, want)
	}
}
