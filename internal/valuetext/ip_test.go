package valuetext

import (
	"net"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/madeup"
)

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
		if got := Text(&v); got != test.want {
			t.Errorf("%q is shown as %s, want %s", test.bytes, got, test.want)
		}
		verb := Verb{Spec: "%s", Letter: 's'}
		if got := string(verb.AppendValue(nil, &v)); !strings.HasPrefix(test.want, "net.IP") && got != test.want {
			t.Errorf("%%s of %q is %s, want %s", test.bytes, got, test.want)
		}
	}
	v := madeup.ByteSlice(string(make([]byte, 4)), 16, 16) // the beginning of an address is none
	v.Type.Name = "net.IP"
	if got := Text(&v); !strings.HasPrefix(got, "net.IP(") {
		t.Errorf("four bytes of sixteen are shown as %s", got)
	}
}
