package compare

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/cover"

	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// coverFunc is a function of a.go. state is "ran", "not" (run), or "unknown".
func coverFunc(first, last, nesting int, state string) CoverFunc {
	return CoverFunc{Source: target.Source{File: "x/a.go", First: first, Last: last, Nesting: nesting}, Ran: state == "ran", Known: state == "not"}
}

// text returns the text of a profile without its first line, and without the name of the file.
func (c Cover) text(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	fixture.NoError(t, c.Write(&b))
	if again, err := ParseCovers(b.Bytes()); err != nil || !slices.EqualFunc(again, c, sameFile) {
		t.Errorf("read back %v: %v", again, err)
	}
	return strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(b.String(), "mode: set\n"), "x/a.go:", ""))
}

func TestNewCover(t *testing.T) {
	for name, c := range map[string]struct {
		funcs []CoverFunc
		want  string
	}{
		"apart":      {[]CoverFunc{coverFunc(9, 12, 0, "not"), coverFunc(3, 5, 0, "ran")}, "3.1,6.1 1 1\n9.1,13.1 1 0"},
		"neighbours": {[]CoverFunc{coverFunc(3, 3, 0, "ran"), coverFunc(4, 4, 0, "not")}, "3.1,4.1 1 1\n4.1,5.1 1 0"},
		"literal":    {[]CoverFunc{coverFunc(3, 9, 0, "ran"), coverFunc(5, 6, 1, "not")}, "3.1,5.1 1 1\n5.1,7.1 1 0\n7.1,10.1 0 1"},
		"literal at end": {[]CoverFunc{coverFunc(3, 4, 0, "ran"), coverFunc(4, 6, 1, "not"), coverFunc(8, 8, 0, "ran")},
			"3.1,4.1 1 1\n4.1,7.1 1 0\n8.1,9.1 1 1"},
		"two levels": {[]CoverFunc{coverFunc(3, 9, 0, "not"), coverFunc(4, 8, 1, "ran"), coverFunc(5, 5, 2, "not"), coverFunc(6, 7, 2, "ran")},
			"3.1,4.1 1 0\n4.1,5.1 1 1\n5.1,6.1 1 0\n6.1,8.1 1 1\n8.1,9.1 0 1\n9.1,10.1 0 0"},
		"one line":         {[]CoverFunc{coverFunc(3, 3, 0, "ran"), coverFunc(3, 3, 1, "not")}, "3.1,3.2 1 1\n3.2,4.1 1 0"},
		"unknown literal":  {[]CoverFunc{coverFunc(3, 9, 0, "ran"), coverFunc(3, 6, 1, "unknown")}, "3.1,3.2 1 1\n7.1,10.1 0 1"},
		"unknown function": {[]CoverFunc{coverFunc(3, 9, 0, "unknown"), coverFunc(5, 6, 1, "ran")}, "5.1,7.1 1 1"},
		"instances":        {[]CoverFunc{coverFunc(3, 4, 0, "not"), coverFunc(3, 5, 0, "ran")}, "3.1,6.1 1 1"},
		"unknown instance": {[]CoverFunc{coverFunc(3, 4, 0, "not"), coverFunc(3, 5, 0, "unknown")}, ""},
		"none":             {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NewCover(c.funcs).text(t); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestReadCovers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a": "mode: set\nx/a.go:3.1,4.1 1 1\nx/a.go:5.1,6.1 1 0\n", "b": "mode: atomic\nx/a.go:3.1,4.1 1 0\nx/b.go:5.1,6.1 2 77", "empty": "mode: set\n",
		"other": "mode: set\nx/a.go:4.1,5.2 1 1\n", "text": "# x\n", "broken": "mode: set\nx/a.go:4.1\n", "stmts": "mode: set\nx/a.go:3.1,4.1 2 1\n",
	} {
		fixture.Write(t, filepath.Join(dir, name), text)
	}
	for names, want := range map[string]string{
		"a": "3.1,4.1 1 1\n5.1,6.1 1 0", "a b": "3.1,4.1 1 1\n5.1,6.1 1 0\nx/b.go:5.1,6.1 2 1", "empty": "", "b empty": "3.1,4.1 1 0\nx/b.go:5.1,6.1 2 1",
		"a other": "blocks of x/a.go overlap in line 5: the profiles are of different builds", "text": `no "mode: "`, "broken": "doesn't match expected format",
		"a stmts": "inconsistent NumStmt", "none": "no such file",
	} {
		var paths []string
		for name := range strings.FieldsSeq(names) {
			paths = append(paths, filepath.Join(dir, name))
		}
		c, err := ReadCovers(paths...)
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", names, err, want)
		case err == nil && c.text(t) != want:
			t.Errorf("%s: got\n%s\nwant\n%s", names, c.text(t), want)
		}
	}
	for name, want := range map[string]bool{"a": true, "text": false, "none": false} {
		if is := IsCover(filepath.Join(dir, name)); is != want {
			t.Errorf("IsCover(%s): %v", name, is)
		}
	}
}

func TestAgainst(t *testing.T) {
	old, err := ParseCovers([]byte("mode: set\na.go:1.1,2.1 1 1\na.go:3.1,4.1 1 0\na.go:5.1,6.1 1 1\na.go:6.1,7.1 0 1\na.go:8.1,9.1 1 1\n"))
	fixture.NoError(t, err)
	now, err := ParseCovers([]byte("mode: set\na.go:1.1,2.1 1 0\na.go:3.1,4.1 1 1\na.go:5.1,6.1 1 1\na.go:6.1,7.1 0 0\nb.go:8.1,9.1 1 1\n"))
	fixture.NoError(t, err)
	changes, elsewhere := now.Against(old, map[string]string{"a.go:3": "f"})
	if want := []string{"gone  a.go:1", "new   a.go:3  f"}; !slices.Equal(changes, want) || elsewhere != 2 {
		t.Errorf("got %v, %d elsewhere, want %v, 2", changes, elsewhere, want)
	}
	if ran, all := now.Share(); ran != 3 || all != 4 {
		t.Errorf("share %d of %d, want 3 of 4", ran, all)
	}
	huge, err := ParseCovers([]byte("mode: set\na.go:1.1,2.1 9223372036854775807 1\na.go:3.1,4.1 9223372036854775807 0\n"))
	if ran, all := huge.Share(); err != nil || ran <= 0 || all != 2*ran {
		t.Errorf("%d of %d, %v", ran, all, err)
	}
}

func FuzzParseCovers(f *testing.F) {
	for _, text := range []string{"mode: set\na.go:1.1,2.1 1 1\na.go:3.1,4.1 1 0", "mode: count\na.go:1.1,2.1 1 -3\n\n", "mode: \n", "mode: set\n:1.1,2.1 1 1\n"} {
		f.Add([]byte(text), []byte("mode: set\na.go:1.1,2.1 1 0\n"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		sum, err := ParseCovers(a, b)
		if err != nil {
			return
		}
		var text bytes.Buffer
		fixture.NoError(t, sum.Write(&text))
		again, err := ParseCovers(text.Bytes())
		if err != nil || !slices.EqualFunc(sum, again, sameFile) {
			t.Errorf("%v written and read is %v: %v", sum, again, err)
		}
		if changes, elsewhere := again.Against(sum, nil); len(changes)+elsewhere > 0 {
			t.Errorf("a profile differs from itself: %v, %d", changes, elsewhere)
		}
	})
}

func sameFile(a, b *cover.Profile) bool {
	return a.FileName == b.FileName && slices.Equal(a.Blocks, b.Blocks)
}
