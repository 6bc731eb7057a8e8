package offsets

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"regexp"
)

// release is a version as the text among others that it is in a binary: digits of the
// text behind it may follow.
var release = regexp.MustCompile(`^go1\.[1-9][0-9]?(\.[0-9]{1,2}|rc[0-9]|beta[0-9])?`)

// maxRelease is the length of the longest text that release matches.
const maxRelease = len("go1.12beta1")

// buildVersion finds what Go before 1.13 says of its version: runtime.buildVersion, a
// string variable, by its symbol; by its value in a stripped file. Only versions that
// write the file's form of function table count, and two that differ are none.
func (b *Binary) buildVersion(form *pclnForm) (GoVersion, bool) {
	fits := func(text string) (GoVersion, bool) {
		v, err := parseGoVersion(text)
		return v, err == nil && form.oldest <= v.Minor && v.Minor <= form.newest
	}
	static, _ := b.symbols(elf.SHT_SYMTAB) // damaged ones are as good as none
	for _, s := range static {
		if s.name == "runtime.buildVersion" && s.kind == elf.STT_OBJECT {
			if text, ok := b.stringAt(s.addr); ok {
				if v, ok := fits(text); ok {
					return v, true
				}
			}
		}
	}
	// Texts that a string variable has for its value are surer than others, which
	// may be of messages and the like.
	var variables, texts versionSet
	tries := 64
	b.scan([]byte("go1."), func(p *elf.Prog, at uint64) bool {
		tries--
		var buf [maxRelease]byte
		n, err := p.ReadAt(buf[:], int64(at))
		if err != nil && err != io.EOF {
			return true
		}
		text := release.Find(buf[:n])
		if v, ok := fits(string(text)); ok {
			texts.add(v)
			if size := b.variableOf(p.Vaddr+at, len(text)); size > 0 {
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
	first GoVersion
	more  bool
}

func (s *versionSet) add(v GoVersion) {
	if s.first.Minor == 0 {
		s.first = v
	}
	s.more = s.more || s.first != v
}

func (s *versionSet) only() (GoVersion, bool) {
	if s.more || s.first.Minor == 0 {
		return GoVersion{}, false
	}
	return s.first, true
}

// variableOf finds a string variable whose text begins at addr and has at most limit
// bytes; it returns their number, 0 if there is none.
func (b *Binary) variableOf(addr uint64, limit int) int {
	size := 0
	b.scanData(binary.LittleEndian.AppendUint64(nil, addr), func(p *elf.Prog, at uint64) bool {
		var n [8]byte
		if at%8 != 0 {
			return true
		}
		if _, err := p.ReadAt(n[:], int64(at)+8); err != nil {
			return true
		}
		if got := binary.LittleEndian.Uint64(n[:]); got > 0 && got <= uint64(limit) {
			size = int(got)
		}
		return size == 0
	})
	return size
}

// stringAt reads the value of a string variable as it is in the file.
func (b *Binary) stringAt(addr uint64) (string, bool) {
	var header [16]byte
	if !b.readData(addr, header[:]) {
		return "", false
	}
	size := binary.LittleEndian.Uint64(header[8:])
	if size > 256 {
		return "", false
	}
	text := make([]byte, size)
	if !b.readData(binary.LittleEndian.Uint64(header[:]), text) {
		return "", false
	}
	return string(text), true
}

// readData reads what a loaded segment has at an address.
func (b *Binary) readData(addr uint64, into []byte) bool {
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz || p.Filesz-(addr-p.Vaddr) < uint64(len(into)) {
			continue
		}
		_, err := p.ReadAt(into, int64(addr-p.Vaddr))
		return err == nil
	}
	return false
}
