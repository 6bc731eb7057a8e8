package main

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// readBy has a test's ftgo read raw pages if the arguments begin with raw, and else the kernel's
// text where there is the choice; it returns the others.
func readBy(t *testing.T, args []string) []string {
	t.Helper()
	t.Setenv(readerVar, args[0])
	if args[0] == "raw" {
		args = args[1:]
	}
	return args
}

// TestKernelRaw runs tests of exactness a second time, with the other reader.
func TestKernelRaw(t *testing.T) {
	fixture.NeedLong(t)
	t.Setenv(readerVar, "raw")
	t.Run("Values", TestKernelValues)
	t.Run("ShortScripts", func(t *testing.T) { runKernelScripts(t, "script/short/[tw]*.txt") })
}
