package valuetext

import (
	"net/netip"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var stringType, _ = gotype.Basic("string")

// pathError is {Op, Path string; Err error} (io/fs/fs.go; os.PathError before Go 1.16).
var pathError = []string{"Op", " ", "Path", ": ", "Err"}

// errorForms are what the Error methods write of the fields of what a pointer points to, and
// what they write between those, for the types of the standard library that most errors have.
var errorForms = map[string][]string{
	"*errors.errorString": {"s"},   // errors/errors.go
	"*fmt.wrapError":      {"msg"}, // fmt/errors.go
	"*fmt.wrapErrors":     {"msg"},
	"*fs.PathError":       pathError, // the runtime has no import paths
	"*io/fs.PathError":    pathError,
	"*os.PathError":       pathError,
	"*os.SyscallError":    {"Syscall", ": ", "Err"}, // os/error.go
}

// ErrorMessage returns what the Error method of the value in an interface would, if it has one
// of errorForms or is a syscall.Errno. It is a string, cut where a part of it is.
func ErrorMessage(v *capture.Value) (message capture.Value, ok bool) {
	if v.Type == nil || v.Type.Kind != reflect.Interface || !known(v.Elem) {
		return capture.Value{}, false
	}
	message = capture.Value{Name: v.Name, Type: stringType}
	form, ok := errorForms[v.Dynamic]
	if v.Dynamic == "syscall.Errno" && v.Elem.Type != nil && v.Elem.Type.Kind == reflect.Uint {
		// The numbers of this machine, which is the target's.
		addText(&message, syscall.Errno(v.Elem.Num).Error())
		return message, true
	}
	for i, part := range form {
		if i%2 == 1 {
			addText(&message, part)
			continue
		}
		f := fieldOf(v.Elem.Elem, part)
		if part == "Err" && known(f) {
			cause, ok := ErrorMessage(f)
			if !ok {
				return message, false
			}
			f = &cause
		}
		if !known(f) || f.Type == nil || f.Type.Kind != reflect.String {
			return message, false
		}
		add(&message, f)
	}
	return message, ok
}

func addText(message *capture.Value, text string) {
	add(message, &capture.Value{Type: stringType, Bytes: []byte(text), Len: int64(len(text))})
}

// add appends a string; what would stand behind a cut is only counted.
func add(message, s *capture.Value) {
	if !message.Cut() {
		message.Bytes = append(message.Bytes, s.Bytes...)
	}
	message.Len += s.Len
}

// fieldOf returns a field of a struct, nil if there is none of that name.
func fieldOf(v *capture.Value, name string) *capture.Value {
	if !known(v) {
		return nil
	}
	i := slices.IndexFunc(v.Fields, func(f capture.Value) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &v.Fields[i]
}

const (
	// From time/time.go: wall holds, from the top, whether there is a monotonic reading,
	// 33 bits of seconds since 1885 if so, and 30 bits of nanoseconds.
	hasMonotonic = 1 << 63
	nsecShift    = 30
	nsecMask     = 1<<nsecShift - 1

	// Seconds from the first of January of year 1 to that of 1885 and of 1970.
	secondsTo1885 = (1884*365 + 1884/4 - 1884/100 + 1884/400) * 86400
	secondsTo1970 = (1969*365 + 1969/4 - 1969/100 + 1969/400) * 86400
)

// timeOf makes a time, in UTC, of the words of a time.Time: wall and ext, or sec and
// nsec before Go 1.9. It is not ok for words that no time has: those are shown as
// the struct they are.
func timeOf(v *capture.Value) (t time.Time, ok bool) {
	if v.Type.Name != "time.Time" {
		return time.Time{}, false
	}
	var sec, nsec int64 // since year 1
	if wall := fieldOf(v, "wall"); known(wall) && wall.Num&hasMonotonic != 0 {
		sec, nsec = secondsTo1885+int64(wall.Num<<1>>(nsecShift+1)), int64(wall.Num&nsecMask)
	} else if ext := fieldOf(v, "ext"); known(wall) && known(ext) {
		sec, nsec = int64(ext.Num), int64(wall.Num&nsecMask)
	} else if s, ns := fieldOf(v, "sec"), fieldOf(v, "nsec"); known(s) && known(ns) {
		sec, nsec = int64(s.Num), int64(ns.Num)
	} else {
		return time.Time{}, false
	}
	// RFC 3339 ends with year 9999.
	const secondsTo10000 = (9999*365 + 9999/4 - 9999/100 + 9999/400) * 86400
	if nsec < 0 || nsec >= 1e9 || sec < 0 || sec >= secondsTo10000 {
		return time.Time{}, false
	}
	return time.Unix(sec-secondsTo1970, nsec).UTC(), true
}

func known(v *capture.Value) bool { return v != nil && v.State == capture.Known }

// ipOf makes an address of a net.IP. It is not ok for bytes that no address has: those are
// shown as the bytes they are.
func ipOf(v *capture.Value) (ip netip.Addr, ok bool) {
	if v.Type.Name != "net.IP" || v.Cut() {
		return netip.Addr{}, false
	}
	ip, ok = netip.AddrFromSlice(v.Bytes)
	return ip.Unmap(), ok // as net.IP.String has it
}
