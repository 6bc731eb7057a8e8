package image

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestHolding counts what is no hole.
func TestHolding(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const block = 1 << 16
	check := func(size, want int64) {
		t.Helper()
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if got := holding(f, size); got != want {
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

// TestPosixCRC: the number that cksum prints, however the text is cut.
func TestPosixCRC(t *testing.T) {
	for cut := range 10 {
		var c posixCRC
		c.Write([]byte("123456789")[:cut])
		c.Write([]byte("123456789")[cut:])
		if got := c.sum(); got != 930766865 {
			t.Errorf("cut at %d: %d", cut, got)
		}
	}
}
