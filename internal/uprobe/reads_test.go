package uprobe

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
)

// TestFaults checks that each word of an array at an invalid pointer counts as a fault, and that each read at a
// pointer that could not be read counts, too.
func TestFaults(t *testing.T) {
	const ok = 0xc000010000
	for _, c := range []struct {
		name  string
		fetch string // FETCH:TYPE of values, which follow a stack pointer
		words []uint64
		want  uint64
		most  uint64
	}{
		{"registers", "%ax:s64 %bx:s64", []uint64{0, 0}, 0, 0},
		{"text", "%ax:s64 +0(%ax):x64[3]", []uint64{ok, 0, 0, 0}, 0, 3},
		{"nil text", "%ax:s64 +0(%ax):x64[3]", []uint64{0, 0, 0, 0}, 3, 3},
		{"words far behind nil", "%ax:s64 +65528(%ax):s64 +65536(%ax):s64", []uint64{0, 7, 7}, 1, 2},
		{"before a pointer", "%ax:s64 -8(%ax):x64[2]", []uint64{ok, 0, 0}, 0, 2},
		{"a number that is not a pointer", "%ax:s64 +0(%ax):s64", []uint64{0xfff, 7}, 1, 1},
		{"on the stack", "+8(%sp):s64 +16(%sp):s64", []uint64{0, 0}, 0, 0},
		{"behind the stack", "+8(%sp):s64 +0(+8(%sp)):x64[3]", []uint64{0, 0, 0, 0}, 3, 3},
		{"a pointer that nothing tells", "+0(+8(%ax)):s64", []uint64{0}, 0, 0},
		{"a struct, and text in it", "%ax:s64 +0(%ax):s64 +8(%ax):s64 +0(+8(%ax)):x64[3]", []uint64{ok, 1, ok, 0, 0, 0}, 0, 5},
		{"nil text in it", "%ax:s64 +0(%ax):s64 +8(%ax):s64 +0(+8(%ax)):x64[3]", []uint64{ok, 1, 0, 5, 5, 5}, 3, 5},
		{"nil struct, behind which is what an earlier event left", "%ax:s64 +0(%ax):s64 +8(%ax):s64 +0(+8(%ax)):x64[3]", []uint64{0, 1, ok, 0, 0, 0}, 3, 5},
		{"arranged", "+8(%ax):s64 %ax:s64 +0(+8(%ax)):x64[3]", []uint64{0, 0, 5, 5, 5}, 2, 4},
		{"a pointer among many words", "%ax:s64 +0(%ax):x64[3] +0(+16(%ax)):x64[2] +4(+8(%ax)):s32", []uint64{ok, 1, ok, 0, 7, 7, 7}, 2, 6},
		{"two steps behind nil", "%ax:s64 +0(%ax):s64 +0(+0(%ax)):s64 +0(+0(+0(%ax))):x64[3]", []uint64{0, ok, ok, 7, 7, 7}, 3, 5},
		{"half a pointer", "%ax:s64 +0(%ax):s32 +0(+0(%ax)):s64", []uint64{ok, 0, 0}, 0, 1},
		{"static", "@+16:s64 +0(@+16):x64[3]", []uint64{0, 0, 0, 0}, 3, 3},
	} {
		e := Event{Event: tracefs.Event{Args: words("sp", "%sp")}, Faults: true, Fields: noFields}
		e.Fields.SP, e.Fields.Values = 0, 1
		for text := range strings.FieldsSeq(c.fetch) {
			fetch, typ, _ := strings.Cut(text, ":")
			e.Args = append(e.Args, tracefs.Arg{Fetch: fetch, Type: typ})
		}
		hit := append([]uint64{0x8000}, c.words...)
		site := Site{}
		reads := e.Reads(&site)
		if got, most := reads.Faults(hit), reads.MaxFaults(); got != c.want || most != c.most {
			t.Errorf("%s: %d of at most %d, want %d of %d", c.name, got, most, c.want, c.most)
		}
		// A site with its own fetchargs.
		site.appendFetch(e.Args)
		for i := range e.Args {
			e.Args[i].Fetch = "%cx"
		}
		if got := e.Reads(&site).Faults(hit); got != c.want {
			t.Errorf("%s: %d of the site, want %d", c.name, got, c.want)
		}
		if e.Faults = false; len(e.Reads(&site)) > 0 {
			t.Errorf("%s: reads where nil pointers are not followed", c.name)
		}
	}
}
