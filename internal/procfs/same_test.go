package procfs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSameFileOfLayer checks that a file of a layer is the same in its own folder and in overlayfs, but a copy is another.
func TestSameFileOfLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"layer", "upper", "work", "root"} {
		fixture.NoError(t, os.Mkdir(dir, 0o755))
	}
	for _, name := range []string{"same", "changed"} {
		fixture.NoError(t, os.WriteFile(filepath.Join("layer", name), []byte("text"), 0o644))
	}
	if err := syscall.Mount("overlay", "root", "overlay", 0, "lowerdir=layer,upperdir=upper,workdir=work"); err != nil {
		t.Skipf("mount an overlay: %v", err)
	}
	defer syscall.Unmount("root", 0)
	fixture.NoError(t, os.Chmod("root/changed", 0o600))
	fixture.NoError(t, os.Chmod("root/changed", 0o644))
	if !SameFile("layer/same", "root/same") || SameFile("layer/changed", "root/changed") || SameFile("layer/same", "root/changed") {
		t.Errorf("same %v, changed %v, other %v", SameFile("layer/same", "root/same"), SameFile("layer/changed", "root/changed"), SameFile("layer/same", "root/changed"))
	}
}
