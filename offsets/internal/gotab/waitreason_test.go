package gotab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWaitReasons: the names are those that the runtime's source has, however the program was built.
func TestWaitReasons(t *testing.T) {
	number := regexp.MustCompile(`(?m)^\t(waitReason[A-Za-z]+)(?: +waitReason = iota)? *(?://.*)?$`)
	text := regexp.MustCompile(`(?m)^\t(waitReason[A-Za-z]+): +"(.*)",$`)
	for _, version := range fixture.Releases() {
		t.Run(version, func(t *testing.T) {
			plain := openPath(t, fixture.BuildWith(t, version, "exact"))
			if _, known := plain.Version.WaitReason(); !known {
				if names := plain.WaitReasons(); names != nil {
					t.Errorf("names %q", names)
				}
				return
			}
			source, err := os.ReadFile(filepath.Join(fixture.Toolchain(t, version), "src/runtime/runtime2.go"))
			fixture.NoError(t, err)
			texts := make(map[string]string)
			for _, m := range text.FindAllStringSubmatch(string(source), -1) {
				texts[m[1]] = m[2]
			}
			var want []string
			for _, m := range number.FindAllStringSubmatch(string(source), -1) {
				want = append(want, texts[m[1]])
			}
			stripped := fixture.BuildWith(t, version, "exact", "-ldflags=-s -w")
			for _, path := range []string{
				fixture.BuildWith(t, version, "exact"), stripped, fixture.Headless(t, stripped), fixture.BuildWith(t, version, "exact", "-buildmode=pie"),
			} {
				got := openPath(t, path).WaitReasons()
				if len(want) < 20 || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
					t.Errorf("%s: %q, want %q", path, got, want)
				}
			}
		})
	}
}

// TestOwnWaitReasons: what looks for the names does not find itself, as in ftgo demo.
func TestOwnWaitReasons(t *testing.T) {
	path, err := os.Executable()
	fixture.NoError(t, err)
	if names := openPath(t, path).WaitReasons(); !slices.Contains(names, "sleep") {
		t.Errorf("%q", names)
	}
}
