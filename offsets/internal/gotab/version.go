package gotab

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
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
	// Module is the path of the program's main module, and Main the import path of package main. They are "" if the binary
	// does not contain them.
	Module, Main string
	// NotInlined: the compiler was told not to inline any call (-gcflags=all=-l).
	NotInlined bool
}

func (v Version) String() string { return v.Text }

// Layout holds the byte offsets in runtime.g (runtime/runtime2.go) of the goroutine ID (uint64, unique in a process), of the
// lowest address and of the end of the stack (uintptr), and of the pointer to the goroutine's runtime.m, its thread. Curg is
// the offset in runtime.m of the pointer to the goroutine that the thread runs. Labels is the offset of the pointer to the labels
// of the goroutine. M, Curg and Labels are 0 if they are unknown.
type Layout struct{ Goid, StackLo, StackHi, M, Curg, Labels int64 }

// Layout returns the layout in releases of the version, from the DWARF of programs built with each version. For Go 1.6 and
// 1.8 it is from the source.
func (v Version) Layout() (l Layout, known bool) {
	l = Layout{Goid: 152, StackHi: 8}
	switch {
	case v.Minor < 5 || v.Minor > 27:
		return l, false
	case v.Minor == 5:
		l.Goid = 184
	case v.Minor < 9:
		l.Goid = 192
	case v.Minor == 23 || v.Minor == 24: // syscallbp was added, then gobuf.ret was removed
		l.Goid = 160
	}
	if v.Minor >= 13 {
		l.M, l.Curg = 48, 192
	}
	if v.Minor >= 25 {
		l.Curg = 184
	}
	switch l.Labels = 344; {
	case v.Minor < FirstLabels:
		l.Labels = 0
	case v.Minor >= 17 && v.Minor <= 20:
		l.Labels = 360
	case v.Minor == 23 || v.Minor == 24 || v.Minor >= 26:
		l.Labels = 352
	}
	return l, true
}

// Goroutine returns the offsets of fields of runtime.g by name in releases of the version, from DWARF like those of
// [Version.Layout]. It returns nil before Go 1.17.
func (v Version) Goroutine() map[string]int64 {
	l, known := v.Layout()
	if !known || v.Minor < 17 {
		return nil
	}
	at := map[string]int64{
		"stack.lo": l.StackLo, "stack.hi": l.StackHi, "m": l.M, "sched.sp": 56, "sched.pc": 64, "sched.lr": 96, "syscallsp": 112, "syscallpc": 120,
		"stktopsp": l.Goid - 24, "atomicstatus": l.Goid - 8, "goid": l.Goid, "waitsince": l.Goid + 16, "waitreason": l.Goid + waitReason, "gopc": 296, "lockedm": 232,
	}
	if v.Minor >= 21 {
		at["lockedm"], at["gopc"] = l.Goid+56, l.Goid+128
		if v.Minor >= 26 {
			at["gopc"] += 8
		}
		at["parentGoid"] = at["gopc"] - 8
	}
	if v.Minor >= 25 { // gobuf.ret was removed
		at["sched.lr"], at["syscallsp"], at["syscallpc"] = 88, 104, 112
	}
	at["startpc"] = at["gopc"] + 16
	return at
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
		v.Module, v.Main = info.Main.Path, info.Path
		v.NotInlined = slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
			flags, all := strings.CutPrefix(s.Value, "all=")
			return s.Key == "-gcflags" && all && slices.Contains(strings.Fields(flags), "-l")
		})
		return v, err
	}
	if t == nil {
		return Version{}, nil
	}
	return buildVersion(m, t.form), nil
}

// buildVersion finds the version in a program of Go before 1.13: the text of a string variable, runtime.buildVersion, that looks
// like a version. It accepts only versions that write this form of function table, and returns no version if it finds two
// different ones.
func buildVersion(m *image.Image, form *form) Version {
	var found []Version
	tries := 64
	m.Scan([]byte("go1."), 0, func(p *elf.Prog, addr uint64) bool {
		tries--
		var buf [maxRelease]byte
		n, err := p.ReadAt(buf[:], int64(addr-p.Vaddr))
		if err != nil && err != io.EOF {
			return true
		}
		text := string(release.Find(buf[:n]))
		v, err := ParseVersion(text[:variableOf(m, addr, len(text))])
		if err == nil && form.oldest <= v.Minor && v.Minor <= form.newest {
			found = append(found, v)
		}
		return tries > 0
	})
	if len(found) == 0 || slices.ContainsFunc(found, func(v Version) bool { return v != found[0] }) {
		return Version{}
	}
	return found[0]
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

// firstReason is the first minor version of Go that stores the reason why a goroutine waits as a number. waitReason is
// the offset of that byte from goid in runtime.g, after schedlink and waitsince (runtime/runtime2.go, Go 1.11 to 1.27).
const (
	firstReason = 11
	waitReason  = 24
)

// WaitReason returns the offset of the wait reason from runtime.g.goid.
func (v Version) WaitReason() (offset int64, known bool) { return waitReason, v.Minor >= firstReason }

// reasonsBegin is the start of runtime.waitReasonStrings in all versions. It is split at run time, because WaitReasons
// would find an array in ftgo's own file, which ftgo demo traces.
var reasonsBegin = strings.Split("\nGC assist marking\nIO wait", "\n")

// FirstLabels is the first minor version of Go with labels of goroutines, and FirstLabelList the first one in which they are a
// list instead of a map (runtime/pprof/label.go).
const (
	FirstLabels    = 9
	FirstLabelList = 24
)

// maxReasons is the number of values of a byte.
const maxReasons = 256

// WaitReasons returns the names of wait reasons by number, in the words of stack dumps, or nil if it does not find them. It
// searches for the first two names, so that it needs no symbols. It may also return strings that follow the list in memory,
// but no goroutine has their numbers.
func (g *Tables) WaitReasons() (names []string) {
	tries := 8 // the text occurs once in a program
	g.image.Scan([]byte(reasonsBegin[1]), 0, func(_ *elf.Prog, text uint64) bool {
		g.image.ScanPointers(text, func(second uint64) bool {
			names = g.reasonsAt(second - 16)
			return names == nil
		})
		tries--
		return names == nil && tries > 0
	})
	return names
}

func (g *Tables) reasonsAt(addr uint64) (names []string) {
	for i := range maxReasons {
		name, ok := stringVariable(g.image, addr+16*uint64(i))
		switch {
		case i < len(reasonsBegin) && (!ok || name != reasonsBegin[i]):
			return nil
		case !ok || i > 0 && name == "":
			return names
		}
		names = append(names, name)
	}
	return names
}
