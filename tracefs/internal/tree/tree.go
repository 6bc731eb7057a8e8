// Package tree is the directory that tracefs is mounted at: its files, and how what a session has
// made there is removed. Nothing is deleted that is not proven to be off.
package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Tree is a mounted tracefs.
type Tree struct {
	// Dir is where it is mounted.
	Dir string
	Ops
	// Pipes is how many sessions of this process have their pipes open.
	Pipes atomic.Int32
}

// Path is that of a file.
func (t *Tree) Path(elem ...string) string {
	return filepath.Join(append([]string{t.Dir}, elem...)...)
}

// Exists tells whether a file of this tracefs is there.
func (t *Tree) Exists(elem ...string) bool {
	_, err := os.Stat(t.Path(elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadTrimmed returns a small file without the white space around it.
func (t *Tree) ReadTrimmed(elem ...string) (string, error) {
	b, err := t.Read(t.Path(elem...))
	return strings.TrimSpace(string(b)), err
}
