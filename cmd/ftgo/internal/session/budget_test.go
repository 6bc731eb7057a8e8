package session

import "testing"

// TestBudgetShare checks that programs which ftgo has not started have a budget by default.
func TestBudgetShare(t *testing.T) {
	var started Options
	started.Program = []string{"sleep"}
	for _, test := range []struct {
		name, given string
		o           Options
		want        float64
	}{
		{"all that run", "", Options{}, 0.25},
		{"started", "", started, 0},
		{"none", "0", Options{}, 0},
		{"small", "0.5", Options{}, 0.005},
		{"of what is started", "5%", started, 0.05},
	} {
		if test.given != "" {
			var err error
			if test.o.Budget, err = percent.Read(test.given); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if got := test.o.budgetShare(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	for _, text := range []string{"", "x", "-1", "100", "NaN", "1e9"} {
		if _, err := percent.Read(text); err == nil {
			t.Errorf("%q is a share", text)
		}
	}
}
