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

// Version is the version of Go that built a program.
type Version struct {
	// Text is the version in the binary: "go1.26.8", "go1.24.0 X:nocoverageredesign", "devel go1.27-abcdef".
	Text string
	// Minor is 26 for Go 1.26. It is 0 if the program is not from Go.
	Minor int
	// Devel marks a development version, for which tables by version may be wrong.
	Devel bool
	// Module is the path of the program's main module, "" if the binary does not contain it.
	Module string
}

func (v Version) String() string { return v.Text }

// goidOffset is the offset of runtime.g.goid by minor version of Go, from the DWARF of programs built with each version.
var goidOffset = map[int]int64{
	4: 128,
	5: 184,                 // stktopsp and waiting lists for the new collector were added
	6: 192, 7: 192, 8: 192, // the offsets for 6 and 8 are from runtime/runtime2.go, not DWARF
	9: 152, 10: 152, 11: 152, 12: 152, // stack barriers were removed
	13: 152, 14: 152, 15: 152, 16: 152,
	17: 152, 18: 152, 19: 152, 20: 152, 21: 152, 22: 152,
	23: 160, 24: 160, // syscallbp was added
	25: 152, 26: 152, 27: 152, // gobuf.ret was removed
}

// Goid returns the offset of runtime.g.goid in releases of the version.
func (v Version) Goid() (offset int64, known bool) {
	offset, known = goidOffset[v.Minor]
	return offset, known
}

// threadOf is the offset of runtime.g.m from Go 1.13 to 1.27.
const threadOf = 48

// Running returns the offsets of runtime.g.m and of runtime.m.curg, the goroutine that the thread runs, in releases of
// the version.
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
	// plainRelease matches unmodified releases. With experiments ("go1.24.0 X:..."), or in a distribution's version, the
	// runtime's structs may have other fields.
	plainRelease = regexp.MustCompile(`^go1\.[0-9]+(\.[0-9]+)?$`)
	// release matches a version at the start of a text. In a binary other texts follow without a separator, which may
	// begin with digits.
	release = regexp.MustCompile(`^go1\.[1-9][0-9]?(\.[0-9]{1,2}|rc[0-9]|beta[0-9])?`)
)

// maxRelease is the length of the longest text that release matches.
const maxRelease = len("go1.12beta1")

// Plain reports whether the version is an unmodified release.
func (v Version) Plain() bool { return plainRelease.MatchString(v.Text) }

// ParseVersion parses the version text of a program.
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

// readVersion reads the build information that Go 1.13 and later add to every binary. In older binaries it searches for
// runtime.buildVersion. If a file has no version, or is from gccgo, whose functions are like C functions, it returns no
// Version and no error.
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

// buildVersion finds the version in a program of Go before 1.13. The version is in the string variable runtime.buildVersion.
// A stripped file has no symbol of this variable, so buildVersion searches for texts that look like a version. It accepts
// only versions that write this form of function table, and returns no version if it finds two different ones.
func buildVersion(m *image.Image, form *form) Version {
	parse := func(text string) []Version {
		v, err := ParseVersion(text)
		if err != nil || v.Minor < form.oldest || v.Minor > form.newest {
			return nil
		}
		return []Version{v}
	}
	var symbols []Version
	// Without symbols, or with damaged ones, buildVersion searches for texts below, so it ignores the error.
	m.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
		if s.Name == "runtime.buildVersion" && s.Kind == elf.STT_OBJECT && symbols == nil {
			text, _ := stringVariable(m, s.Addr)
			symbols = parse(text)
		}
	})
	if symbols != nil {
		return symbols[0]
	}
	// Prefer texts that are the value of a string variable. Other texts may be parts of messages.
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

// variableOf finds a string variable with a text that begins at addr and has at most limit bytes. It returns the length of
// the text, or 0 if it finds no such variable.
func variableOf(m *image.Image, addr uint64, limit int) (size int) {
	m.ScanPointers(addr, func(at uint64) bool {
		if got, ok := m.Pointer(at + 8); ok && got <= uint64(limit) {
			size = int(got)
		}
		return size == 0
	})
	return size
}
