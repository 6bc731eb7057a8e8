package gotab

import (
	"debug/elf"
	"strings"
)

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

// maxReasons is the number of values of a byte.
const maxReasons = 256

// WaitReasons returns the names of wait reasons by number, in the words of stack dumps, or nil if it does not find them. It
// searches for the first two names, so that it needs no symbols. It may also return strings that follow the list in memory,
// but no goroutine has their numbers.
func (g *Tables) WaitReasons() (names []string) {
	tries := 8 // the text occurs once in a program
	g.image.Scan([]byte(reasonsBegin[1]), func(_ *elf.Prog, text uint64) bool {
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
