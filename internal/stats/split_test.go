package stats

import "testing"

func TestSplitOf(t *testing.T) {
	for _, c := range []struct {
		in   Split
		ns   int64
		want Split
	}{
		{Split{20, 30, 50}, 100, Split{20, 30, 50}},
		{Split{20, 30, 50}, 90, Split{10, 30, 50}},
		{Split{20, 30, 50}, 110, Split{30, 30, 50}},
		{Split{20, 30, 50}, 70, Split{0, 20, 50}},
		{Split{20, 30, 50}, 7, Split{0, 0, 7}},
		{Split{20, 30, 50}, 0, Split{}},
	} {
		if got := c.in.Of(c.ns); got != c.want || got.Sum() != c.ns {
			t.Errorf("%v of %d: %v, want %v", c.in, c.ns, got, c.want)
		}
	}
}

func TestSplitSince(t *testing.T) {
	f := Function{Split: Split{20, 30, 50}}
	if got := f.Since(Function{Split: Split{1, 2, 3}}).Split; got != (Split{19, 28, 47}) {
		t.Errorf("%v", got)
	}
}
