package tracefs_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelFeatures checks that this kernel has the features of its version and of earlier ones, and no others.
func TestKernelFeatures(t *testing.T) {
	got, want := tracetest.AnyKernel(t).Features(), tracefs.ThisMachine().Features()
	want.Memory = want.Memory || got.Memory             // RHEL 7's 3.10 has it
	t.Logf("kernel: %s", tracefs.ThisMachine().Release) // scripts/kernel-matrix reads both lines
	var has []string
	for i, v := 0, reflect.ValueOf(got); i < v.NumField(); i++ {
		if v.Field(i).Bool() {
			has = append(has, v.Type().Field(i).Name)
		}
	}
	t.Logf("features: %s", strings.Join(has, ", "))
	if got != want {
		t.Errorf("Linux %s: %+v, want %+v", tracefs.ThisMachine().Release, got, want)
	}
}
