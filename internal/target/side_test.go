package target

import (
	"testing"

	"github.com/ftgo/ftgo/offsets"
)

// TestSides checks that goarg registers are known at the entry and goret registers at the return, whatever their type's name.
func TestSides(t *testing.T) {
	sig := &offsets.Signature{}
	for path, atEntry := range map[string]bool{
		"goarg1": true, "+8(goarg2):goret.T": true, "goarg1:*main.goretT": true, "goret1": false, "goret1:*main.goargs": false, "+0(goret2):goarg.T": false,
	} {
		if AtEntry(sig, path) != atEntry || AtReturn(sig, path) == atEntry {
			t.Errorf("%s: at entry %v, at return %v", path, AtEntry(sig, path), AtReturn(sig, path))
		}
	}
}
