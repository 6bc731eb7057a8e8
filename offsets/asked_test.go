package offsets

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestRuntimeTypeNamed: types are found by the names that source files have for them, whether the
// program is stripped or not, and constants in debug information.
func TestRuntimeTypeNamed(t *testing.T) {
	b := openPath(t, fixture.Build(t, "httpd"))
	for name, want := range map[string]string{"*http.response": "*http.response", "*net/http.response": "*http.response", "net/http.Header": "http.Header", "*http/net.response": ""} {
		if got, err := b.Internals().RuntimeTypeNamed(name); (err == nil) != (want != "") || err == nil && got.Name != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	// This test itself has types of math/rand/v2, whose name is rand.
	self := openPath(t, "/proc/self/exe")
	for name, want := range map[string]string{"math/rand/v2.Source": "rand.Source", "*math/rand/v2.PCG": "*rand.PCG", "*math/rand.PCG": "", "*math/rand/v2.None": "", "[]math/rand/v2.PCG": ""} {
		if got, err := self.Internals().RuntimeTypeNamed(name); (err == nil) != (want != "") || err == nil && got.Name != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for _, version := range []string{fixture.Current, "1.7.6", "1.12.17", "1.16.15", "1.18.10", "1.20.14", "1.25.0", "1.26.8", "1.27.4"} {
		for _, flags := range []string{"", "-s -w"} {
			b := openPath(t, fixture.BuildWith(t, version, "asked", "-ldflags", flags))
			minor, _ := b.GoVersion()
			pathError := "os"
			if minor >= 16 {
				pathError = "fs"
			}
			for name, want := range map[string]string{
				"*main.box": "*main.box", "main.box": "main.box", "main.tag": "main.tag", "*x/main.box": "",
				"*" + pathError + ".PathError": "*" + pathError + ".PathError", "*vendor/" + pathError + ".PathError": "",
				"string": "string", "[]byte": "[]uint8", "map[string][]string": "map[string][]string", "*main.nothing": "", "": "",
			} {
				got, err := b.Internals().RuntimeTypeNamed(name)
				switch {
				case want == "" && (err == nil || !strings.HasPrefix(err.Error(), "find type "+name+": ")):
					t.Errorf("Go %s %s: %s is %v, %v", version, flags, name, got, err)
				case want != "" && (err != nil || got.Name != want):
					t.Errorf("Go %s %s: %s is %v, %v", version, flags, name, got, err)
				case want == "map[string][]string" && (got.Group() == nil || got.Elem() == nil || got.Elem().Name != "[]string"):
					t.Errorf("Go %s %s: %s has %v in %v", version, flags, name, got.Elem(), got.Group())
				}
			}
			if minor < 12 { // which has no constants, or no names of units
				continue
			}
			_, ofMain, ok := b.Internals().Constant("main.done", "")
			_, own, okOwn := b.Internals().Constant("highest", "main")
			if told := flags == ""; ok != told || okOwn != told || told && (ofMain != 2 || own != 255) {
				t.Errorf("Go %s %s: done is %d, %v, highest %d, %v", version, flags, ofMain, ok, own, okOwn)
			}
		}
	}
}
