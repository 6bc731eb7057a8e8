package trace

import "testing"

// TestBites: what the budget does comes before the names, which are longer than a line of a screen.
func TestBites(t *testing.T) {
	for _, test := range []struct {
		hot  []string
		want string
	}{
		{nil, "those of the runtime's functions ("},
		{[]string{"main.a"}, "those of main.a ("},
		{[]string{"main.a", "main.b", "main.c"}, "those of main.a, main.b, main.c ("},
		{[]string{"main.a", "main.b", "main.c", "main.d", "main.e"}, "those of main.a, main.b, main.c, 2 more ("},
	} {
		want := "probes take more than 2.5% of the program's CPU time: calls are only counted, or not seen, for some of the time, " + test.want + "--budget 0 sets no limit)"
		if got := bites(test.hot, 0.025); got != want {
			t.Errorf("of %q:\n%s\nwant\n%s", test.hot, got, want)
		}
	}
}
