package valuetext

import (
	"encoding/binary"
	"net/netip"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
)

// netipOf writes an Addr, AddrPort or Prefix of package net/netip as its String method does. It is not ok
// for words that none has: those are shown as the struct they are. Where the kind of an
// address was not fetched, as in Go before 1.23, and behind pointers, the text is a guess: an IPv4 address may be one
// of IPv6 that stands for it, and one of IPv6 may have a zone.
func netipOf(v *capture.Value) (text string, guess, ok bool) {
	switch v.Type.Name {
	case "net/netip.Addr", "netip.Addr":
		addr, guess, ok := addrOf(v)
		return addr.String(), guess, ok
	case "net/netip.AddrPort", "netip.AddrPort":
		addr, guess, ok := addrOf(fieldOf(v, "ip"))
		port := fieldOf(v, "port")
		if !ok || !known(port) {
			return "", false, false
		}
		return netip.AddrPortFrom(addr, uint16(port.Num)).String(), guess, true
	case "net/netip.Prefix", "netip.Prefix":
		addr, guess, ok := addrOf(fieldOf(v, "ip"))
		bits := -1
		switch n, old := fieldOf(v, "bitsPlusOne"), fieldOf(v, "bits"); {
		case known(n):
			bits = int(n.Num) - 1
		case known(old): // Go 1.18 and 1.19
			bits = int(int16(old.Num))
		default:
			ok = false
		}
		if !ok {
			return "", false, false
		}
		return netip.PrefixFrom(addr, bits).String(), guess, true
	}
	return "", false, false
}

// addrOf makes an address of {addr uint128; z}: z is nil in none, and else leads to its kind and zone, a
// unique.Handle of {isV6 bool; zoneV6 string} since Go 1.23 and a *intern.Value before.
func addrOf(v *capture.Value) (addr netip.Addr, guess, ok bool) {
	number, z := fieldOf(v, "addr"), fieldOf(v, "z")
	hi, lo := fieldOf(number, "hi"), fieldOf(number, "lo")
	if known(z) && z.Type != nil && z.Type.Kind == reflect.Struct {
		z = fieldOf(z, "value")
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
	isV6, zone := fieldOf(z.Elem, "isV6"), fieldOf(z.Elem, "zoneV6")
	switch {
	case !known(isV6) || !known(zone):
		return addr.Unmap(), true, true
	case isV6.Num != 0:
		return addr.WithZone(string(zone.Bytes)), zone.Cut(), true
	}
	return addr.Unmap(), false, addr.Is4In6()
}
