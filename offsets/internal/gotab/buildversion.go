package gotab

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"regexp"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// release is a version as the text among others that it is in a binary: digits of the
// text behind it may follow.
var release = regexp.MustCompile(`^go1\.[1-9][0-9]?(\.[0-9]{1,2}|rc[0-9]|beta[0-9])?`)

// maxRelease is the length of the longest text that release matches.
const maxRelease = len("go1.12beta1")

// buildVersion finds what Go before 1.13 says of its version: runtime.buildVersion, a
// string variable, by its symbol; by its value in a stripped file. Only versions that
// write the file's form of function table count, and two that differ are none.
func buildVersion(m *image.Image, form *form) (Version, bool) {
	fits := func(text string) (Version, bool) {
		v, err := ParseVersion(text)
		return v, err == nil && form.oldest <= v.Minor && v.Minor <= form.newest
	}
	var said Version
	m.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) { // damaged ones are as good as none
		if s.Name == "runtime.buildVersion" && s.Kind == elf.STT_OBJECT && said.Minor == 0 {
			if text, ok := stringVariable(m, s.Addr); ok {
				if v, ok := fits(text); ok {
					said = v
				}
			}
		}
	})
	if said.Minor > 0 {
		return said, true
	}
	// Texts that a string variable has for its value are surer than others, which
	// may be of messages and the like.
	var variables, texts versionSet
	tries := 64
	m.Scan([]byte("go1."), func(p *elf.Prog, addr uint64) bool {
		tries--
		var buf [maxRelease]byte
		n, err := p.ReadAt(buf[:], int64(addr-p.Vaddr))
		if err != nil && err != io.EOF {
			return true
		}
		text := release.Find(buf[:n])
		if v, ok := fits(string(text)); ok {
			texts.add(v)
			if size := variableOf(m, addr, len(text)); size > 0 {
				if v, ok := fits(string(text[:size])); ok {
					variables.add(v)
				}
			}
		}
		return tries > 0
	})
	if v, ok := variables.only(); ok {
		return v, true
	}
	return texts.only()
}

// versionSet collects versions of which only one is wanted.
type versionSet struct {
	first Version
	more  bool
}

func (s *versionSet) add(v Version) {
	if s.first.Minor == 0 {
		s.first = v
	}
	s.more = s.more || s.first != v
}

func (s *versionSet) only() (Version, bool) {
	if s.more || s.first.Minor == 0 {
		return Version{}, false
	}
	return s.first, true
}

// variableOf finds a string variable whose text begins at addr and has at most limit
// bytes; it returns their number, 0 if there is none.
func variableOf(m *image.Image, addr uint64, limit int) int {
	size := 0
	m.ScanPointers(addr, func(at uint64) bool {
		var n [8]byte
		if !m.Read(at+8, n[:]) {
			return true
		}
		if got := binary.LittleEndian.Uint64(n[:]); got > 0 && got <= uint64(limit) {
			size = int(got)
		}
		return size == 0
	})
	return size
}
