package debug

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestDebugInfoTooLarge: sections that say they are larger, decompressed, than the
// file can make true are not read.
func TestDebugInfoTooLarge(t *testing.T) {
	sound := fixture.Build(t, "inlined")
	if _, err := Open(openPath(t, sound)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sound)
	fixture.NoError(t, err)
	ef, err := elf.Open(sound)
	fixture.NoError(t, err)
	defer ef.Close()
	s := ef.Section(".debug_info")
	if s == nil || s.Flags&elf.SHF_COMPRESSED == 0 {
		t.Fatal("debug information is not compressed")
	}
	binary.LittleEndian.PutUint64(data[s.Offset+8:], 1<<30) // ch_size
	path := filepath.Join(t.TempDir(), "large")
	fixture.NoError(t, os.WriteFile(path, data, 0o644))
	if _, err := Open(openPath(t, path)); err == nil || !strings.Contains(err.Error(), "more than a file of this size") {
		t.Errorf("error %v", err)
	}
}
