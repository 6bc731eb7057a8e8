package main

import (
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// files writes texts into files, and returns their names.
func files(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		names = append(names, filepath.Join(dir, string(rune('a'+i))))
		fixture.Write(t, names[i], text)
	}
	return names
}
