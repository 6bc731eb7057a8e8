package valuetext

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// addr is an address as it lies in memory since Go 1.23, or, if it is old, before.
func addr(text string, old bool) capture.Value {
	a := netip.MustParseAddr(text)
	b := a.As16()
	number := madeup.Struct("net/netip.uint128",
		madeup.Named("hi", madeup.Num("uint64", int64(binary.BigEndian.Uint64(b[:])))), madeup.Named("lo", madeup.Num("uint64", int64(binary.BigEndian.Uint64(b[8:])))))
	var isV6 int64
	if !a.Is4() {
		isV6 = 1
	}
	z := madeup.Pointer(madeup.Struct("net/netip.addrDetail", madeup.Named("isV6", madeup.Num("bool", isV6)), madeup.Named("zoneV6", madeup.Str(a.Zone()))))
	if old {
		z.Elem = nil
	} else {
		z = madeup.Struct("unique.Handle[net/netip.addrDetail]", madeup.Named("value", z))
	}
	return madeup.Struct("net/netip.Addr", madeup.Named("addr", number), madeup.Named("z", z))
}

func TestNetip(t *testing.T) {
	prefix := func(a capture.Value, field string, n int64) capture.Value {
		return madeup.Struct("netip.Prefix", madeup.Named("ip", a), madeup.Named(field, madeup.Num("int16", n)))
	}
	for _, test := range []struct {
		v    capture.Value
		want string
	}{
		{addr("10.0.0.7", false), "10.0.0.7"},
		{addr("10.0.0.7", true), "~10.0.0.7"},
		{addr("::ffff:10.0.0.7", false), "::ffff:10.0.0.7"},
		{addr("::ffff:10.0.0.7", true), "~10.0.0.7"},
		{addr("fe80::1%eth0", false), "fe80::1%eth0"},
		{addr("fe80::1%eth0", true), "~fe80::1"},
		{madeup.Struct("net/netip.AddrPort", madeup.Named("ip", addr("::1", false)), madeup.Named("port", madeup.Num("uint16", 80))), "[::1]:80"},
		{prefix(addr("10.0.0.0", false), "bitsPlusOne", 9), "10.0.0.0/8"},
		{prefix(addr("10.0.0.0", true), "bits", 8), "~10.0.0.0/8"},
	} {
		if got := Text(&test.v); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		want := strconv.Quote(test.want)
		if test.want[0] == '~' {
			want = `{"guess":` + strconv.Quote(test.want[1:]) + "}"
		}
		if got := string(JSON(&test.v)); got != want {
			t.Errorf("JSON %s, want %s", got, want)
		}
	}
	// An IPv4 address with the words of another one is none.
	v := addr("2001:db8::1", false)
	v.Fields[1].Fields[0].Elem.Fields[0].Num = 0
	if got := Text(&v); got[0] != '{' {
		t.Errorf("words that no address has: %s", got)
	}
}
