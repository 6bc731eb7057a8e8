package view

import "testing"

func TestMaxRateFlag(t *testing.T) {
	for text, ok := range map[string]bool{"0": true, "1000": true, "0.5": true, "1e6": true, "-1": false, "NaN": false, "inf": false, "": false, "1k": false} {
		if n, err := perSecond.Read(text); (err == nil) != ok || (n != nil) != ok {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
}
