package tracefs_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelFeatures checks that this kernel has the features of its version and of earlier ones, and no others.
func TestKernelFeatures(t *testing.T) {
	f := tracetest.AnyKernel(t)
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	fixture.NoError(t, err)
	t.Logf("kernel: %s", strings.TrimSpace(string(release)))
	since := map[string][2]int{
		"Append": {5, 4}, "PushEmulated": {5, 4}, "Arrays": {4, 20}, "RecordTGID": {4, 14}, "EventFork": {4, 9}, "EventPID": {4, 4},
		"Memory": {3, 14}, "Instances": {3, 14}, "ExactHits": {6, 12},
	}
	features := reflect.ValueOf(f.Features())
	var found []string
	for i := range features.NumField() {
		name, has := features.Type().Field(i).Name, features.Field(i).Bool()
		v, known := since[name]
		if !known {
			t.Errorf("feature %s: nothing is known of the version it came with", name)
		}
		older := tracefs.This().Older(v[0], v[1])
		if has && older && name == "Memory" {
			continue // RHEL 7's 3.10 has it
		}
		if has == older {
			t.Errorf("feature %s: found %t, but it came with Linux %d.%d", name, has, v[0], v[1])
		}
		if has {
			found = append(found, name)
		}
	}
	t.Logf("features: %s", strings.Join(found, ", "))
}
