package valuetext

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
)

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
