package tracefs

import (
	"fmt"
	"testing"
)

// TestLongText: an event whose line may not fit into a page of text is known.
func TestLongText(t *testing.T) {
	array := func(n int) Arg { return Arg{"v0", "+0(%ax)", fmt.Sprintf("x64[%d]", n)} }
	word := Arg{"v0", "%ax", "s64"}
	words := make([]Arg, 159)
	for i := range words {
		words[i] = word
	}
	for _, c := range []struct {
		args []Arg
		want bool
	}{
		{nil, false},
		{[]Arg{array(64), array(64)}, false},
		{[]Arg{array(64), array(64), array(64)}, true},
		{words[:100], false},
		{words, true},
	} {
		if got := (Event{Args: c.args}).longText(); got != c.want {
			t.Errorf("%v of %d arguments %v", got, len(c.args), c.args)
		}
	}
}
