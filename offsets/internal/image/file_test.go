package image

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

func openPath(t testing.TB, path string) *Image {
	t.Helper()
	f, err := os.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	m, err := Open(f, path)
	fixture.NoError(t, err)
	return m
}

// copied opens a copy of a program that tests may modify.
func copied(t *testing.T) (*Image, string) {
	t.Helper()
	code, err := os.ReadFile(fixture.Build(t, "flood"))
	fixture.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy")
	fixture.NoError(t, os.WriteFile(path, code, 0o755))
	return openPath(t, path), path
}

// TestHold checks that a writer blocks until Release.
func TestHold(t *testing.T) {
	b, path := copied(t)
	if _, err := b.Hold(); err != nil {
		t.Fatal(err)
	}
	if b.lease == nil {
		t.Skip("this file system has no leases")
	}
	if b.Written() {
		t.Error("written to by nobody")
	}
	done := make(chan error)
	go func() { done <- os.Truncate(path, 0) }()
	for !b.Written() {
		select {
		case err := <-done:
			t.Fatalf("the writer did not wait: %v", err)
		default:
		}
	}
	if err := b.Unchanged(); err != nil {
		t.Error(err)
	}
	b.Release()
	if err := fixture.Receive(t, done); err != nil {
		t.Error(err)
	}
	if busy, err := b.Hold(); err == nil || busy {
		t.Errorf("a file that has been emptied: %v", err)
	}
}

// TestHoldBeingWritten checks the error for a file that is open for writing.
func TestHoldBeingWritten(t *testing.T) {
	b, path := copied(t)
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	fixture.NoError(t, err)
	if busy, err := b.Hold(); !busy || err == nil {
		t.Errorf("%v, %v", busy, err)
	}
	w.Close()
	if _, err := b.Hold(); err != nil {
		t.Error(err)
	}
}

// TestUnchanged checks that Unchanged detects writes, even if the modification time was reset, and truncation, but
// accepts another mode or link.
func TestUnchanged(t *testing.T) {
	b, path := copied(t)
	for name, do := range map[string]func() error{
		"another mode": func() error { return os.Chmod(path, 0o700) },
		"a link":       func() error { return os.Link(path, path+".link") },
	} {
		fixture.NoError(t, do())
		if err := b.Unchanged(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b = openPath(t, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	fixture.NoError(t, err)
	if _, err := f.WriteAt([]byte{0x90}, 4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	fixture.NoError(t, os.Chtimes(path, time.Unix(b.stat.Mtim.Unix()), time.Unix(b.stat.Mtim.Unix())))
	if err := b.Unchanged(); err == nil {
		t.Error("a write is not detected")
	}
	b = openPath(t, path)
	fixture.NoError(t, os.Truncate(path, 4096))
	if err := b.Unchanged(); err == nil {
		t.Error("truncation is not detected")
	}
}

// TestDataSize checks that holes are not counted.
func TestDataSize(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	fixture.NoError(t, err)
	defer f.Close()
	const block = 1 << 16
	check := func(size, want int64) {
		t.Helper()
		fixture.NoError(t, f.Truncate(size))
		if got := dataSize(f, size); got != want {
			t.Errorf("a file of %d bytes holds %d, want %d", size, got, want)
		}
	}
	check(0, 0)
	check(1<<40, 0)
	for _, at := range []int64{block, 8 * block, 1 << 39} {
		if _, err := f.WriteAt(bytes.Repeat([]byte{1}, block), at); err != nil {
			t.Fatal(err)
		}
	}
	check(1<<40, 3*block)
	check(9*block, 2*block)
	check(8*block, block)
}
