package symname

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestMayMatch: what is left out for its first bytes is matched by no spelling.
func TestMayMatch(t *testing.T) {
	tool, err := exec.LookPath("go")
	fixture.NoError(t, err)
	names, err := functions(tool)
	fixture.NoError(t, err)
	for _, text := range []string{
		"main.main", "main.*", "*", "*sync*", "sync.(*Mutex).Lock", "sync.Mutex.Lock", "(*Buffer).Write", "bytes.(*).Write",
		"slices.SortFunc", "slices.SortFunc[...]", "slices.SortFunc[int]", "slices.*[string]", "m?in.main", "?", "gopkg.in/yaml.v3.*",
		"cmd/go/internal/load.(*Package).*", "type:.eq.*", "go:*", "internal/sync.(*HashTrieMap*", "vendor/golang.org/x/text/*",
	} {
		p, err := parseGlob(text)
		fixture.NoError(t, err)
		left := 0
		for _, name := range names {
			if !p.mayMatch(name) {
				if left++; p.match(&spellings{symbol: name}) {
					t.Errorf("%s matches %s, but was left out", text, name)
				}
			}
		}
		if strings.HasPrefix(text, "main.") && left < len(names)/2 {
			t.Errorf("%s: only %d of %d left out", text, left, len(names))
		}
	}
}
