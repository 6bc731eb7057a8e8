package offsets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestTruncatedWhileOpen: a file that somebody cuts off under the reader makes errors and
// nothing worse.
func TestTruncatedWhileOpen(t *testing.T) {
	data, err := os.ReadFile(fixture.Build(t, "exact"))
	fixture.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cut")
	fixture.NoError(t, os.WriteFile(path, data, 0o755))
	b := openPath(t, path)
	f, ok := b.Lookup("main.leaf")
	if !ok {
		t.Fatal("no main.leaf")
	}
	if _, err := b.Sites(f); err != nil {
		t.Fatal(err)
	}
	fixture.NoError(t, os.Truncate(path, 4096))
	if s, err := b.Sites(f); err == nil {
		t.Errorf("sites of a function that is cut off: %+v", s)
	}
	if s, err := b.Signature(f); err == nil {
		t.Errorf("signature of a function that is cut off: %+v", s)
	}
	if err := b.File().Unchanged(); err == nil {
		t.Error("a file that was cut off passed for unchanged")
	}
}
