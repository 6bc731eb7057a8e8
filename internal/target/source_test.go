package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSources checks places in the source with and without symbols, and that generated functions have none.
func TestSources(t *testing.T) {
	const file = "github.com/ftgo/ftgo/testdata/covered/main.go"
	want := map[string]string{
		"main.init.0": file + ":13-13 0", "main.spin": file + ":16-20 0", "main.square.grow": file + ":28-28 0", "main.closures": file + ":39-40 0",
		"main.closures.func1": file + ":40-41 1", "main.closures.func2": file + ":42-43 1", "main.panics": file + ":49-51 0", "main.init.func1": file + ":63-63 1",
	}
	for _, flags := range []string{"", "-s -w"} {
		b, err := offsets.Open(fixture.Build(t, "covered", "-gcflags=all=-l", "-ldflags="+flags))
		fixture.NoError(t, err)
		defer b.Close()
		tg := &Target{Binary: b}
		found := make(map[string]string)
		for f, s := range tg.Sources() {
			found[s.Name] = fmt.Sprintf("%s:%d-%d %d", s.File, s.First, s.Last, s.Nesting)
			if strings.Contains(f.Name, "gowrap") || s.File == "" || s.Inlinable || strings.Contains(s.File, "<") {
				t.Errorf("%s has the place %s", f.Name, found[s.Name])
			}
		}
		for name, place := range want {
			if found[name] != place {
				t.Errorf("flags %q: %s is at %q, want %q", flags, name, found[name], place)
			}
		}
		// A push by //go:linkname has the name of another package: internal/poll.runtime_pollOpen.
		if at := found["internal/poll.runtime_pollOpen"]; !strings.HasPrefix(at, "runtime/netpoll.go:") || found["main.init"] != "" {
			t.Errorf("flags %q: internal/poll.runtime_pollOpen at %q, main.init at %q", flags, at, found["main.init"])
		}
	}
}

// TestSourcesElsewhere checks that a literal is not placed in the package of the function that its own function was inlined into.
func TestSourcesElsewhere(t *testing.T) {
	dir := t.TempDir()
	fixture.NoError(t, os.Mkdir(filepath.Join(dir, "opt"), 0o755))
	for name, text := range map[string]string{
		"go.mod":     "module own.test/own\n\ngo 1.21\n",
		"opt/opt.go": "package opt\n\nfunc Set(n int) func(*int) { return func(p *int) { *p = n } }\n",
		"main.go": "package main\n\nimport \"own.test/own/opt\"\n\nvar x int\n\nvar all []func(*int)\n\n" +
			"func main() {\n\tall = append(all, opt.Set(1))\n\tfor _, f := range all {\n\t\tf(&x)\n\t}\n}\n",
	} {
		fixture.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	build := exec.Command("go", "build", "-o", "own", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := offsets.Open(filepath.Join(dir, "own"))
	fixture.NoError(t, err)
	defer b.Close()
	if _, ok := b.Lookup("main.main.Set.func1"); !ok {
		t.Skip("this compiler does not inline opt.Set")
	}
	for _, s := range (&Target{Binary: b}).Sources() {
		if strings.HasSuffix(s.File, "/opt.go") {
			t.Errorf("%s is at %s", s.Name, s.File)
		}
	}
}
