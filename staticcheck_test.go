package ftgo_test

import (
	"os/exec"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestStaticcheck runs go vet and staticcheck.
func TestStaticcheck(t *testing.T) {
	fixture.NeedLong(t)
	out, err := exec.Command("go", "vet", "./...").CombinedOutput()
	if err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	out, err = exec.Command("go", "tool", "-modfile=scripts/tools/tools.mod", "staticcheck", "./...").CombinedOutput()
	if err != nil {
		t.Errorf("staticcheck: %v\n%s", err, out)
	}
}
