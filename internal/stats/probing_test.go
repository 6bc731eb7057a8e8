package stats

import "testing"

// TestBeyond: a program that uses next to no CPU time has the time to spare.
func TestBeyond(t *testing.T) {
	for _, tt := range []struct {
		ns, cpu, budget, seconds float64
		want                     bool
	}{
		{ns: 1.2e8, cpu: 1e10, budget: 0.01, seconds: 10, want: true},
		{ns: 1.05e8, cpu: 1e10, budget: 0.01, seconds: 10},
		{ns: 5e6, cpu: 1e7, budget: 0.01, seconds: 10},
		{ns: 1.2e7, cpu: 1e7, budget: 0.01, seconds: 10, want: true},
		{ns: 1e9, cpu: 1e9, seconds: 10},
	} {
		p := Probing{NS: tt.ns, CPU: tt.cpu}
		if got := p.Beyond(tt.budget, tt.seconds); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
