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

// checkStandard checks the text and the JSON of a value. A guess begins with ~. If want is "", the value must be shown as a
// struct, because no value of the type has its fields.
func checkStandard(t *testing.T, v capture.Value, want string) {
	t.Helper()
	got := v.Text()
	if want == "" {
		if !strings.HasPrefix(got, "{") {
			t.Errorf("%s, want the struct", got)
		}
		return
	}
	if got != want {
		t.Errorf("text %s, want %s", got, want)
	}
	asJSON := strconv.Quote(want)
	if guess, is := strings.CutPrefix(want, "~"); is {
		asJSON = `{"guess":` + strconv.Quote(guess) + "}"
	}
	if got := string(v.AppendJSON(nil)); got != asJSON {
		t.Errorf("JSON %s, want %s", got, asJSON)
	}
	to := madeup.Pointer(v)
	if got := string(to.AppendJSON(nil)); got != `{"&":"0xc000012345","value":`+asJSON+`}` {
		t.Errorf("JSON of a pointer %s", got)
	}
}

func TestTimes(t *testing.T) {
	for _, text := range []string{
		"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2024-02-29T12:00:00.000000001Z", "9999-12-31T23:59:59.999999999Z",
		"1066-10-14T09:00:00Z", // before 1885, which has no monotonic reading
	} {
		at, err := time.Parse(time.RFC3339Nano, text)
		fixture.NoError(t, err)
		checkStandard(t, words(at), text)
		checkStandard(t, words(at.In(time.FixedZone("", 3600))), text)
	}
	now := time.Now() // with a monotonic reading
	checkStandard(t, words(now), now.UTC().Format(time.RFC3339Nano))
	// The last year of a monotonic reading.
	checkStandard(t, madeup.Time(1<<63|(1<<33-1)<<30|5, 77), "2157-03-16T12:56:31.000000005Z")
	checkStandard(t, madeup.Struct("time.Time", // before Go 1.9
		madeup.Named("sec", madeup.Num("int64", secondsTo1970)), madeup.Named("nsec", madeup.Num("int32", 500_000_000))), "1970-01-01T00:00:00.5Z")

	checkStandard(t, madeup.Time(0, secondsTo1970*6), "")   // year 10000
	checkStandard(t, madeup.Time(0, -1), "")                // before year 1
	checkStandard(t, madeup.Time(1_000_000_000, 0), "")     // more than a second of nsec
	checkStandard(t, madeup.Struct("time.Time"), "")        // no fields
	outside, unread := madeup.Time(0, 0), madeup.Time(0, 0) // another package's type, half of it unreadable
	outside.Type.Name, unread.Items[1].State = "other.Time", capture.Unreadable
	checkStandard(t, outside, "")
	checkStandard(t, unread, "")
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
		checkStandard(t, test.v, test.want)
	}
	// No IPv4 address has these words.
	v := addr("2001:db8::1", false)
	v.Items[1].Items[0].Elem.Items[0].Num = 0
	checkStandard(t, v, "")
}
