package gotab

import (
	"path"
	"slices"
)

// Differs compares the functions of two programs by their tables: addresses, names and source lines. It returns the
// first function that differs and what differs, or "" if all are equal. It ignores the directories of source files,
// because a rebuild may be in another directory.
func (g *Tables) Differs(other *Tables) (function, what string) {
	t, o := g.functions(), other.functions()
	for i := range max(t.count, o.count) {
		switch {
		case i >= t.count:
			return o.symbol(o.function(i).word(wordName)), "it is in one of them alone"
		case i >= o.count:
			return t.symbol(t.function(i).word(wordName)), "it is in one of them alone"
		}
		f, of := t.function(i), o.function(i)
		if what := f.differs(of); what != "" {
			return t.symbol(f.word(wordName)), what
		}
	}
	return "", ""
}

// differs returns what differs between two functions, "" if they are equal.
func (f Func) differs(other Func) string {
	switch {
	case string(f.name()) != string(other.name()):
		return string(other.name()) + " is in its place"
	case f.Addr != other.Addr:
		return "it is at another address"
	case f.End != other.End:
		return "it is of another length"
	}
	s, o := f.source(), other.source()
	file, _ := s.at(f.Addr)
	otherFile, _ := o.at(other.Addr)
	if path.Base(file) != path.Base(otherFile) || !slices.Equal(s.lines, o.lines) {
		return "it is of other source lines"
	}
	return ""
}
