package gotab

import (
	"debug/elf"
	"strings"
)

// firstReason is the minor version of the first Go that says by a number why a goroutine waits, and
// waitReason where runtime.g has that byte, behind goid, schedlink and waitsince
// (runtime/runtime2.go, Go 1.11 to 1.27).
const (
	firstReason = 11
	waitReason  = 24
)

// WaitReason is how far behind runtime.g.goid is the number of the reason why a goroutine waits.
func (v Version) WaitReason() (offset int64, known bool) { return waitReason, v.Minor >= firstReason }

// reasonsBegin is what runtime.waitReasonStrings has begun with ever since there is one. It is made
// when the program starts: as an array in the file it would be found in ftgo itself, which is what demo
// looks at.
var reasonsBegin = strings.Split("\nGC assist marking\nIO wait", "\n")

// maxReasons is how many a byte can tell apart.
const maxReasons = 256

// WaitReasons are the names of those reasons by their numbers, as stack dumps have them; nil if
// they are not found. They are found by what they begin with, so that it takes no symbols. What
// lies behind them may be taken for more, which no goroutine waits for.
func (g *Tables) WaitReasons() (names []string) {
	tries := 8 // binaries have the text once
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
