package tracefs

import "testing"

func TestMountPoint(t *testing.T) {
	for dir, want := range map[string]string{
		"/sys/kernel/tracing":       "/sys/kernel/tracing",
		"/sys/kernel/debug/tracing": "/sys/kernel/debug", // before Linux 4.1 it is a part of debugfs
	} {
		if got := At(dir).mountPoint(); got != want {
			t.Errorf("%s is there by %s, want %s", dir, got, want)
		}
	}
}
