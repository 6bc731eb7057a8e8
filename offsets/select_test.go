package offsets

import (
	"strings"
	"testing"
)

// TestMayMatch: what is left out for its first bytes is matched by no spelling.
func TestMayMatch(t *testing.T) {
	funcs := goTool(t).Funcs()
	for _, text := range []string{
		"main.main", "main.*", "*", "*sync*", "sync.(*Mutex).Lock", "sync.Mutex.Lock", "(*Buffer).Write", "bytes.(*).Write",
		"slices.SortFunc", "slices.SortFunc[...]", "slices.SortFunc[int]", "slices.*[string]", "m?in.main", "?", "gopkg.in/yaml.v3.*",
		"cmd/go/internal/load.(*Package).*", "type:.eq.*", "go:*", "internal/sync.(*HashTrieMap*", "vendor/golang.org/x/text/*",
	} {
		p, err := CompilePattern(text, Glob)
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for i := range funcs {
			if name := funcs[i].Name; !p.mayMatch(name) {
				if left++; p.Match(name) {
					t.Errorf("%s matches %s, but was left out", text, name)
				}
			}
		}
		if strings.HasPrefix(text, "main.") && left < len(funcs)/2 {
			t.Errorf("%s: only %d of %d left out", text, left, len(funcs))
		}
	}
}
