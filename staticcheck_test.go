package ftgo_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestStaticcheck: go vet and staticcheck have nothing to say.
func TestStaticcheck(t *testing.T) {
	if os.Getenv("FTGO_TEST_TOOLCHAINS") == "" {
		t.Skip("staticcheck takes a minute: FTGO_TEST_TOOLCHAINS=require runs it")
	}
	out, err := exec.Command("go", "vet", "./...").CombinedOutput()
	if err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	out, err = exec.Command("go", "tool", "-modfile=scripts/tools/tools.mod", "staticcheck", "./...").CombinedOutput()
	if err != nil {
		t.Errorf("staticcheck: %v\n%s", err, out)
	}
}
