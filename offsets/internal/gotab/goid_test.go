package gotab

import "testing"

// TestGoidTable: no version between those that are known is left out.
func TestGoidTable(t *testing.T) {
	for minor := 4; minor <= 26; minor++ {
		if goidOffset[minor] == 0 {
			t.Errorf("nothing known of Go 1.%d", minor)
		}
	}
}
