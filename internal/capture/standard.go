package capture

import (
	"encoding/binary"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// known reports whether a value is not nil and Known.
func known(v *Value) bool { return v != nil && v.State == Known }

// field returns the field of a struct by its name. The field is not known if the struct lacks it or is not known.
func (v *Value) field(name string) *Value {
	if known(v) {
		for i := range v.Items {
			if v.Items[i].Name == name {
				return &v.Items[i]
			}
		}
	}
	return &Value{State: Unfetched}
}

// standardText returns the text of a time.Time, in RFC 3339 and UTC, or of an Addr, AddrPort or Prefix of package net/netip,
// as by its String method. ok is false for another type, and for fields that no value of the type has. guess is set if
// the kind of an address was not fetched, as in Go before 1.23, or because it is behind too many pointers: then an IPv4
// address may be an IPv4-mapped IPv6 address, and an IPv6 address may have a zone.
func (v *Value) standardText() (text string, guess, ok bool) {
	switch strings.TrimPrefix(v.Type.Name, "net/") { // runtime type names have no import paths
	case "time.Time":
		t, ok := timeOf(v)
		return t.Format(time.RFC3339Nano), false, ok
	case "netip.Addr":
		addr, guess, ok := addrOf(v)
		return addr.String(), guess, ok
	case "netip.AddrPort":
		addr, guess, ok := addrOf(v.field("ip"))
		port := v.field("port")
		return netip.AddrPortFrom(addr, uint16(port.Num)).String(), guess, ok && known(port)
	case "netip.Prefix":
		addr, guess, ok := addrOf(v.field("ip"))
		n, old := v.field("bitsPlusOne"), v.field("bits")
		bits := int(n.Num) - 1
		if known(old) { // Go 1.18 and 1.19
			bits = int(int16(old.Num))
		}
		return netip.PrefixFrom(addr, bits).String(), guess, ok && (known(n) || known(old))
	}
	return "", false, false
}

const (
	// In time/time.go, wall has, from the highest bit on, a flag for a monotonic reading, 33 bits of seconds since 1885
	// if the flag is set, and 30 bits of nanoseconds.
	hasMonotonic = 1 << 63
	nsecShift    = 30
	nsecMask     = 1<<nsecShift - 1

	// Seconds from January 1 of year 1 to January 1 of 1885, 1970 and 10000. RFC 3339 ends with year 9999.
	secondsTo1885  = (1884*365 + 1884/4 - 1884/100 + 1884/400) * 86400
	secondsTo1970  = (1969*365 + 1969/4 - 1969/100 + 1969/400) * 86400
	secondsTo10000 = (9999*365 + 9999/4 - 9999/100 + 9999/400) * 86400
)

// timeOf returns the time with the fields of a time.Time: wall and ext, or sec and nsec before Go 1.9.
func timeOf(v *Value) (t time.Time, ok bool) {
	var sec, nsec int64 // since year 1
	if wall := v.field("wall"); known(wall) && wall.Num&hasMonotonic != 0 {
		sec, nsec = secondsTo1885+int64(wall.Num<<1>>(nsecShift+1)), int64(wall.Num&nsecMask)
	} else if ext := v.field("ext"); known(wall) && known(ext) {
		sec, nsec = int64(ext.Num), int64(wall.Num&nsecMask)
	} else if s, ns := v.field("sec"), v.field("nsec"); known(s) && known(ns) {
		sec, nsec = int64(s.Num), int64(ns.Num)
	} else {
		return t, false
	}
	if nsec < 0 || nsec >= 1e9 || sec < 0 || sec >= secondsTo10000 {
		return t, false
	}
	return time.Unix(sec-secondsTo1970, nsec).UTC(), true
}

// addrOf returns the address in a netip.Addr, {addr uint128; z}. z is nil in the zero Addr. Otherwise it leads to the
// kind and the zone: it is a unique.Handle of {isV6 bool; zoneV6 string} since Go 1.23, and was an *intern.Value
// before.
func addrOf(v *Value) (addr netip.Addr, guess, ok bool) {
	number, z := v.field("addr"), v.field("z")
	hi, lo := number.field("hi"), number.field("lo")
	if known(z) && z.Type != nil && z.Type.Kind == reflect.Struct {
		z = z.field("value")
	}
	if !known(hi) || !known(lo) || !known(z) {
		return addr, false, false
	}
	if z.Num == 0 {
		return addr, false, hi.Num == 0 && lo.Num == 0
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], hi.Num)
	binary.BigEndian.PutUint64(b[8:], lo.Num)
	addr = netip.AddrFrom16(b)
	isV6, zone := z.Elem.field("isV6"), z.Elem.field("zoneV6")
	switch {
	case !known(isV6) || !known(zone):
		return addr.Unmap(), true, true
	case isV6.Num != 0:
		return addr.WithZone(string(zone.Bytes)), zone.Cut(), true
	}
	return addr.Unmap(), false, addr.Is4In6()
}

// ipOf returns the address in a net.IP. ok is false for another type, if the bytes are cut,
// and for a number of bytes that no address has.
func ipOf(v *Value) (ip netip.Addr, ok bool) {
	if v.Type.Name != "net.IP" || v.Cut() {
		return netip.Addr{}, false
	}
	ip, ok = netip.AddrFromSlice(v.Bytes)
	return ip.Unmap(), ok // like net.IP.String
}
