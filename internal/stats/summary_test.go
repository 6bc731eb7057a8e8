package stats

import "testing"

// TestBeyond checks the tolerance, and that a program with almost no CPU time is measured by the CPU time of idle.
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

// TestFit checks that no cost exceeds the program's CPU time after Fit.
func TestFit(t *testing.T) {
	for _, p := range []Probing{
		{NS: 5.74e9, Low: 3e9, High: 8e9, CPU: 2.18e9}, {NS: 1e9, Low: 5e8, High: 3e9, CPU: 2e9}, {NS: 1e9, Low: 5e8, High: 3e9}, {NS: 1, High: 2, CPU: 10},
		{NS: 6e9, Low: 5e9, High: 8e9, CPU: 2e9, Faults: 1e6, Fault: 4000, Changes: 1e5, Change: 2e4},
	} {
		was := p
		fit := p.Fit()
		if p.CPU > 0 && (p.NS > p.CPU || p.High > p.CPU || fit*was.NS > p.CPU*1.000001) || p.Low > p.NS || p.NS > p.High {
			t.Errorf("%+v became %+v, parts times %v", was, p, fit)
		}
		if parts := float64(p.Faults)*p.Fault + float64(p.Changes)*p.Change; parts > p.NS {
			t.Errorf("%+v became %+v: faults and changes take %v", was, p, parts)
		}
	}
}
