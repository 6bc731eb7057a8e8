package uprobe

import "testing"

// TestSitesPerEvent checks that no other split of the sites has a lower cost in the model of SitesPerEvent.
func TestSitesPerEvent(t *testing.T) {
	cost := func(n, p int) float64 {
		k := float64((n + p - 1) / p)
		return float64(n)*float64(n)/2/k*compareCost + k*graceCost
	}
	for _, n := range []int{1, 2, 200, 2000, 5000, 6000, 8000, 15000, 44000, 100000} {
		got := SitesPerEvent(n)
		if got < 1 || got > n {
			t.Errorf("%d sites: %d an event", n, got)
			continue
		}
		for p := 1; p <= n; p++ {
			if cost(n, p) < cost(n, got) {
				t.Errorf("%d sites: %d an event cost %.0f, %d would cost %.0f", n, got, cost(n, got), p, cost(n, p))
				break
			}
		}
	}
	if one, two := SitesPerEvent(5000), SitesPerEvent(6000); one != 5000 || two != 3000 {
		t.Errorf("5,000 sites in events of %d, 6,000 of %d: want one event and two", one, two)
	}
	if got := SitesPerEvent(0); got != 1 {
		t.Errorf("no sites: %d an event", got)
	}
}
