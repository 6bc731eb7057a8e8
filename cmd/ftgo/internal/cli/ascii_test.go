package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestASCII(t *testing.T) {
	var b bytes.Buffer
	n, err := asciiWriter{&b}.Write([]byte("main.f… 1.2µs ░▓█ é"))
	if want := "main.f~ 1.2us .+# é"; err != nil || n != len("main.f… 1.2µs ░▓█ é") || b.String() != want {
		t.Errorf("%d, %v: %q, want %q", n, err, b.String(), want)
	}
	if _, err := (asciiWriter{brokenWriter{}}).Write([]byte("µ")); err == nil {
		t.Error("no error")
	}
}

// TestASCIIKnowsAllSigns checks that every character in tables that is not ASCII has a replacement.
func TestASCIIKnowsAllSigns(t *testing.T) {
	tables, err := filepath.Glob("../render/testdata/*table*.golden")
	if err != nil || len(tables) < 10 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, name := range tables {
		text, err := os.ReadFile(name)
		fixture.NoError(t, err)
		for _, r := range ascii.Replace(string(text)) {
			if r > 0x7f {
				t.Errorf("%s: %q has no stand-in", name, r)
				break
			}
		}
	}
}
