package capture_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// secondsTo1970 is the number of seconds from January 1 of year 1 to the Unix epoch.
const secondsTo1970 = 62135596800

// words returns the fields of a time.
func words(t time.Time) capture.Value {
	v := reflect.ValueOf(t)
	return madeup.Time(v.FieldByName("wall").Uint(), v.FieldByName("ext").Int())
}

func TestTimes(t *testing.T) {
	utc := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		fixture.NoError(t, err)
		return at
	}
	now := time.Now() // with a monotonic reading
	east := time.FixedZone("", 3600)
	for _, test := range []struct {
		name string
		v    capture.Value
		want string
	}{
		{"zero", words(time.Time{}), "0001-01-01T00:00:00Z"},
		{"Unix epoch", words(time.Unix(0, 0)), "1970-01-01T00:00:00Z"},
		{"nanoseconds", words(utc("2024-02-29T12:00:00.000000001Z")), "2024-02-29T12:00:00.000000001Z"},
		{"other zone", words(utc("2024-02-29T12:00:00Z").In(east)), "2024-02-29T12:00:00Z"},
		{"last", words(utc("9999-12-31T23:59:59.999999999Z")), "9999-12-31T23:59:59.999999999Z"},
		{"before 1885, which has no monotonic reading", words(utc("1066-10-14T09:00:00Z")), "1066-10-14T09:00:00Z"},
		{"now", words(now), now.UTC().Format(time.RFC3339Nano)},
		{"2157, the last year of a monotonic reading", madeup.Time(1<<63|(1<<33-1)<<30|5, 77), "2157-03-16T12:56:31.000000005Z"},
		{"before Go 1.9", madeup.Struct("time.Time", madeup.Named("sec", madeup.Num("int64", secondsTo1970)), madeup.Named("nsec", madeup.Num("int32", 500_000_000))), "1970-01-01T00:00:00.5Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.v.Text(); got != test.want {
				t.Errorf("text %s, want %s", got, test.want)
			}
			if got := string(test.v.AppendJSON(nil)); got != strconv.Quote(test.want) {
				t.Errorf("JSON %s, want %s quoted", got, test.want)
			}
			to := madeup.Pointer(test.v)
			if got := string(to.AppendJSON(nil)); got != `{"&":"0xc000012345","value":"`+test.want+`"}` {
				t.Errorf("JSON of a pointer %s", got)
			}
		})
	}
}

// TestNoTimes checks that fields that no time has are shown as a struct.
func TestNoTimes(t *testing.T) {
	outside := madeup.Time(0, 0)
	outside.Type.Name = "other.Time"
	unread := madeup.Time(0, 0)
	unread.Items[1].State = capture.Unreadable
	for name, v := range map[string]capture.Value{
		"year 10000":                 madeup.Time(0, secondsTo1970*6),
		"before year 1":              madeup.Time(0, -1),
		"more than a second of nsec": madeup.Time(1_000_000_000, 0),
		"another package's type":     outside,
		"half of it unreadable":      unread,
		"no fields":                  madeup.Struct("time.Time"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Text(); got == "" || got[0] != '{' {
				t.Errorf("got %s, want the struct", got)
			}
		})
	}
}

func TestIPs(t *testing.T) {
	for _, test := range []struct{ bytes, want string }{
		{string(net.IPv4(127, 0, 0, 1)), "127.0.0.1"},
		{string(net.IPv4(10, 0, 0, 7).To4()), "10.0.0.7"},
		{string(net.ParseIP("2001:db8::1")), "2001:db8::1"},
		{"abc", `net.IP("abc")`},
		{strings.Repeat("x", 17), `net.IP("xxxxxxxxxxxxxxxxx")`},
		{"", `net.IP("")`},
	} {
		v := madeup.ByteSlice(test.bytes, int64(len(test.bytes)), 16)
		v.Type.Name = "net.IP"
		if got := v.Text(); got != test.want {
			t.Errorf("%q is shown as %s, want %s", test.bytes, got, test.want)
		}
		verb := capture.Verb{Spec: "%s", Letter: 's'}
		if got := string(verb.AppendValue(nil, &v)); !strings.HasPrefix(test.want, "net.IP") && got != test.want {
			t.Errorf("%%s of %q is %s, want %s", test.bytes, got, test.want)
		}
	}
	v := madeup.ByteSlice(string(make([]byte, 4)), 16, 16) // a part of an address
	v.Type.Name = "net.IP"
	if got := v.Text(); !strings.HasPrefix(got, "net.IP(") {
		t.Errorf("four bytes of sixteen are shown as %s", got)
	}
}

// addr returns the fields of a netip.Addr, of Go 1.22 and before if old is set.
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
		if got := test.v.Text(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		want := strconv.Quote(test.want)
		if test.want[0] == '~' {
			want = `{"guess":` + strconv.Quote(test.want[1:]) + "}"
		}
		if got := string(test.v.AppendJSON(nil)); got != want {
			t.Errorf("JSON %s, want %s", got, want)
		}
	}
	// No IPv4 address has these words.
	v := addr("2001:db8::1", false)
	v.Items[1].Items[0].Elem.Items[0].Num = 0
	if got := v.Text(); got[0] != '{' {
		t.Errorf("words that no address has: %s", got)
	}
}
