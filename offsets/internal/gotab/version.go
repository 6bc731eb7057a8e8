package gotab

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Version is a release of Go, "1.26.8"; development versions have only Text.
type Version struct {
	// Text is what the binary says: "go1.26.8", "go1.24.0 X:nocoverageredesign",
	// "devel go1.27-abcdef".
	Text string
	// Minor is the 26 of 1.26; 0 if this is not Go.
	Minor int
	// Devel marks a version that is no release: tables by version don't hold.
	Devel bool
	// Module is the path of the module that the program is of, "" if it does not say.
	Module string
}

func (v Version) String() string { return v.Text }

// goidOffset is the offset of runtime.g.goid by minor version of Go, as DWARF of
// the versions themselves states it. stack is the first field in all of them.
var goidOffset = map[int]int64{
	4: 128,
	5: 184,                 // stktopsp and waiting lists for the new collector
	6: 192, 7: 192, 8: 192, // 6 and 8 by their runtime2.go
	9: 152, 10: 152, 11: 152, 12: 152, // stack barriers were removed
	13: 152, 14: 152, 15: 152, 16: 152,
	17: 152, 18: 152, 19: 152, 20: 152, 21: 152, 22: 152,
	23: 160, 24: 160, // syscallbp was added
	25: 152, 26: 152, 27: 152, // gobuf.ret was removed
}

// Goid is the offset of runtime.g.goid in releases of the version.
func (v Version) Goid() (offset int64, known bool) {
	offset, known = goidOffset[v.Minor]
	return offset, known
}

// threadOf is where runtime.g has its runtime.m, from Go 1.13 to 1.27.
const threadOf = 48

// Running is where runtime.g has its thread in releases of the version, and where that, runtime.m, has the
// goroutine that it runs, curg.
func (v Version) Running() (m, curg int64, known bool) {
	switch {
	case v.Minor < 13 || v.Minor > 27:
		return 0, 0, false
	case v.Minor < 25:
		return threadOf, 192, true
	}
	return threadOf, 184, true // gobuf.ret was removed
}

var (
	// plainRelease is the version of a release as it is: not of an experiment or a
	// distribution's own, "go1.24.0 X:...", which may have other fields.
	plainRelease = regexp.MustCompile(`^go1\.[0-9]+(\.[0-9]+)?$`)
	// release is a version as the text among others that it is in a binary: digits of the
	// text behind it may follow.
	release = regexp.MustCompile(`^go1\.[1-9][0-9]?(\.[0-9]{1,2}|rc[0-9]|beta[0-9])?`)
)

// maxRelease is the length of the longest text that release matches.
const maxRelease = len("go1.12beta1")

// Plain tells whether it is a release as it is.
func (v Version) Plain() bool { return plainRelease.MatchString(v.Text) }

// ParseVersion reads what a program says of its version.
func ParseVersion(text string) (Version, error) {
	rest, devel := strings.CutPrefix(text, "devel ")
	v := Version{Text: text, Devel: devel}
	rest, ok := strings.CutPrefix(rest, "go1.")
	if !ok {
		return v, fmt.Errorf("parse Go version %q: neither a release nor a development version", text)
	}
	n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	if err != nil || n == 0 {
		return v, fmt.Errorf("parse Go version %q: no minor version", text)
	}
	v.Minor = n
	return v, nil
}

// readVersion reads the build information that Go 1.13 and later put into every
// binary, and searches older ones for runtime.buildVersion. A file without any is not
// an error: it may not be Go, or gccgo's, whose functions are like those of C.
func readVersion(m *image.Image, t *table) (Version, error) {
	if info, err := buildinfo.Read(m.Reader()); err == nil {
		if strings.Contains(info.GoVersion, "gccgo") {
			return Version{}, nil
		}
		v, err := ParseVersion(info.GoVersion)
		v.Module = info.Main.Path
		return v, err
	}
	if t == nil {
		return Version{}, nil
	}
	return buildVersion(m, t.form), nil
}

// buildVersion finds what Go before 1.13 says of its version: runtime.buildVersion, a
// string variable, by its symbol; by its value in a stripped file. Only versions that
// write the file's form of Func table count, and two that differ are none.
func buildVersion(m *image.Image, form *form) Version {
	parse := func(text string) []Version {
		v, err := ParseVersion(text)
		if err != nil || v.Minor < form.oldest || v.Minor > form.newest {
			return nil
		}
		return []Version{v}
	}
	var symbols []Version
	m.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) { // damaged ones are as good as none
		if s.Name == "runtime.buildVersion" && s.Kind == elf.STT_OBJECT && symbols == nil {
			text, _ := stringVariable(m, s.Addr)
			symbols = parse(text)
		}
	})
	if symbols != nil {
		return symbols[0]
	}
	// Texts that a string variable has for its value are surer than others, which
	// may be of messages and the like.
	var variables, texts []Version
	tries := 64
	m.Scan([]byte("go1."), func(p *elf.Prog, addr uint64) bool {
		tries--
		var buf [maxRelease]byte
		n, err := p.ReadAt(buf[:], int64(addr-p.Vaddr))
		if err != nil && err != io.EOF {
			return true
		}
		text := string(release.Find(buf[:n]))
		if found := parse(text); found != nil {
			texts = append(texts, found...)
			variables = append(variables, parse(text[:variableOf(m, addr, len(text))])...)
		}
		return tries > 0
	})
	for _, found := range [][]Version{variables, texts} {
		if len(found) > 0 && !slices.ContainsFunc(found, func(v Version) bool { return v != found[0] }) {
			return found[0]
		}
	}
	return Version{}
}

// variableOf finds a string variable whose text begins at addr and has at most limit
// bytes; it returns their number, 0 if there is none.
func variableOf(m *image.Image, addr uint64, limit int) (size int) {
	m.ScanPointers(addr, func(at uint64) bool {
		if got, ok := m.Pointer(at + 8); ok && got <= uint64(limit) {
			size = int(got)
		}
		return size == 0
	})
	return size
}
