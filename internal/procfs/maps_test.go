package procfs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestParseMappings(t *testing.T) {
	const text = "00001000-2000 r-xp 00001000 fe:00 1234      /bin/with blank\n2000-3000 ---p 00000000 00:00 0\n3000-4000 rw-p 00000000 00:00 0 [heap]\n"
	program := Mapping{0x1000, 0x2000, 0x1000, 1234, "fe:00", "/bin/with blank"}
	for permission, want := range map[string][]Mapping{"x": {program}, "r": {program, {0x3000, 0x4000, 0, 0, "00:00", ""}}} {
		if got, err := parseMappings(text, permission); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v; want %v", permission, got, err, want)
		}
	}
	if _, err := parseMappings("x-y r-xp 0 a b c\n", "x"); err == nil {
		t.Error("nonsense was accepted")
	}
}

func TestMappedFiles(t *testing.T) {
	dir := t.TempDir()
	const text = `55d1-55d2 r-xp 00001000 fe:00 11 /srv/my app/server
7f00-7f01 rw-p 00001000 fe:00 12 /lib/data
7f10-7f11 r-xp 00000000 fe:01 13 /lib/gone (deleted)
7f20-7f21 r-xp 00000000 00:00 0 [anon:a/b]
7ffe-7fff r-xp 00000000 00:00 0 [vdso]
`
	fixture.NoError(t, os.WriteFile(filepath.Join(dir, "maps"), []byte(text), 0o644))
	got, err := MappedFiles(dir)
	want := []Mapping{
		{0x55d1, 0x55d2, 0x1000, 11, "fe:00", "/srv/my app/server"},
		{0x7f10, 0x7f11, 0, 13, "fe:01", "/lib/gone (deleted)"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := MappedFiles(filepath.Join(dir, "none")); err == nil {
		t.Errorf("of no process: %v", got)
	}
}

func FuzzParseMappings(f *testing.F) {
	f.Add("1000-2000 r-xp 00001000 fe:00 1234 /bin/x\n")
	f.Fuzz(func(t *testing.T, text string) {
		maps, err := parseMappings(text, "r")
		if lines := strings.Count(text, "\n") + 1; len(maps) > lines || err != nil && maps != nil {
			t.Errorf("%v, %v of %d lines", maps, err, lines)
		}
	})
}
