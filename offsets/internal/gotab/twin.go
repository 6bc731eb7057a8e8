package gotab

import (
	"bytes"
	"path"
	"slices"
)

// Alike reports whether two functions, of two programs, have the same name, place and source lines. It ignores the directories
// of source files, because a rebuild may be in another directory.
func (f Func) Alike(other Func) bool {
	s, o := f.source(), other.source()
	file, _ := s.at(f.Addr)
	otherFile, _ := o.at(other.Addr)
	return f.Addr == other.Addr && f.End == other.End && bytes.Equal(f.name(), other.name()) &&
		path.Base(file) == path.Base(otherFile) && slices.Equal(s.lines, o.lines)
}
