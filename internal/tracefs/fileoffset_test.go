package tracefs

import (
	"slices"
	"testing"
)

func TestFromSite(t *testing.T) {
	for _, c := range []struct {
		fetch string
		site  uint64
		want  string
	}{
		{"@+0x1e6fd8", 0xa9aa0, "+1299768(%ip)"},
		{"@+16", 0x20, "-16(%ip)"},
		{"@+0x20", 0x20, "+0(%ip)"},
		{"+8(+0(@+0x30))", 0x20, "+8(+0(+16(%ip)))"},
		{"+8(%sp)", 0x20, "+8(%sp)"},
		{"@0x4000", 0x20, "@0x4000"},
		{"@+word", 0x20, "@+word"},
		{"@+", 0x20, "@+"},
	} {
		if got := fromSite(c.fetch, c.site, "%ip"); got != c.want {
			t.Errorf("%s at %#x: %s, want %s", c.fetch, c.site, got, c.want)
		}
	}
	for pc, want := range map[string][]string{
		"":    {"p:g/e /bin/true:0x10 v=+32(%ip):s64", "p:g/e /bin/true:0x20 v=+16(%ip):s64"},
		"%pc": {"p:g/e /bin/true:0x10 v=+32(%pc):s64", "p:g/e /bin/true:0x20 v=+16(%pc):s64"},
	} {
		e := Event{Name: "e", PC: pc, Sites: []uint64{0x10, 0x20}, Args: []Arg{{"v", "@+0x30", "s64"}}}
		if got, err := e.Definitions("g", "/bin/true"); err != nil || !slices.Equal(got, want) {
			t.Errorf("defined as %q, %v, want %q", got, err, want)
		}
	}
}
