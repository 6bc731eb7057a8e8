package tracefs_test

import (
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelFeatures checks that this kernel has the features of its version and of earlier ones, and no others.
func TestKernelFeatures(t *testing.T) {
	got, want := tracetest.AnyKernel(t).Features(), tracefs.ThisMachine().Features()
	want.Memory = want.Memory || got.Memory // RHEL 7's 3.10 has it
	if got != want {
		t.Errorf("Linux %s: %+v, want %+v", tracefs.ThisMachine().Release, got, want)
	}
}
