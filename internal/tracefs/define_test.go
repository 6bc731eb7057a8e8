package tracefs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// TestTextMayOverflow checks which events may have a line that does not fit into a page.
func TestTextMayOverflow(t *testing.T) {
	array := func(n int) Arg { return Arg{"v0", "+0(%ax)", fmt.Sprintf("x64[%d]", n)} }
	word := Arg{"v0", "%ax", "s64"}
	words := make([]Arg, 159)
	for i := range words {
		words[i] = word
	}
	for _, c := range []struct {
		args []Arg
		want bool
	}{
		{nil, false},
		{[]Arg{array(64), array(64)}, false},
		{[]Arg{array(64), array(64), array(64)}, true},
		{words[:100], false},
		{words, true},
	} {
		if got := (Event{Args: c.args}).textMayOverflow(); got != c.want {
			t.Errorf("%v of %d arguments %v", got, len(c.args), c.args)
		}
	}
}

func TestSiteRelative(t *testing.T) {
	for _, c := range []struct {
		fetch string
		site  uint64
		want  string
	}{
		{"@+0x1e6fd8", 0xa9aa0, "+1299768(%ip)"},
		{"@+16", 0x20, "-16(%ip)"},
		{"@+0x20", 0x20, "+0(%ip)"},
		{"+8(+0(@+0x30))", 0x20, "+8(+0(+16(%ip)))"},
		{"+8(%sp)", 0x20, "+8(%sp)"},
		{"@0x4000", 0x20, "@0x4000"},
		{"@+word", 0x20, "@+word"},
		{"@+", 0x20, "@+"},
	} {
		if got := siteRelative(c.fetch, c.site, "%ip"); got != c.want {
			t.Errorf("%s at %#x: %s, want %s", c.fetch, c.site, got, c.want)
		}
	}
	for pc, want := range map[string][]string{
		"":    {"p:g/e /bin/true:0x10 v=+32(%ip):s64", "p:g/e /bin/true:0x20 v=+16(%ip):s64"},
		"%pc": {"p:g/e /bin/true:0x10 v=+32(%pc):s64", "p:g/e /bin/true:0x20 v=+16(%pc):s64"},
	} {
		e := Event{Name: "e", PC: pc, Sites: []uint64{0x10, 0x20}, Args: []Arg{{"v", "@+0x30", "s64"}}}
		if got, err := e.Definitions("g", "/bin/true"); err != nil || !slices.Equal(got, want) {
			t.Errorf("defined as %q, %v, want %q", got, err, want)
		}
	}
}

func TestCheckFileSystem(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "ftgo-")
	var at unix.Statfs_t
	if err != nil || unix.Statfs(dir, &at) != nil || at.Type != unix.TMPFS_MAGIC {
		t.Skipf("/dev/shm is no tmpfs to write to: %v", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	fixture.NoError(t, os.WriteFile(file, nil, 0o755))
	for _, c := range []struct {
		path, release string
		ok            bool
	}{
		{file, "3.10.105", false}, {file, "3.15.0", false}, {file, "3.16.0", true}, {file, "6.18.0", true},
		{"/proc/self/exe", "3.10.105", true}, {"/not/there", "3.10.105", true},
	} {
		if c.path == "/proc/self/exe" && unix.Statfs(c.path, &at) == nil && at.Type == unix.TMPFS_MAGIC {
			continue
		}
		if err := checkFileSystem(c.path, Machine{Release: c.release}.Older); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNotSupported) {
			t.Errorf("%s on Linux %s: %v", c.path, c.release, err)
		}
	}
}
