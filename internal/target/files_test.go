package target

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestFilesBelow checks that a path that is replaced all the time never leads to a file outside of the root.
func TestFilesBelow(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	text, err := os.ReadFile(fixture.Build(t, "family", "-tags", "osusergo,netgo"))
	fixture.NoError(t, err)
	for _, path := range []string{root + "/run", outside} {
		fixture.NoError(t, os.WriteFile(path, text, 0o755))
	}
	fixture.NoError(t, os.Link(root+"/run", root+"/app"))
	cmd := exec.Command("/run", "stdin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	in, err := cmd.StdinPipe()
	fixture.NoError(t, err)
	if err := cmd.Start(); err != nil {
		t.Skipf("change the root: %v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	defer in.Close()
	other := FilesNamed(outside)[0]
	if files := FilesBelow("/app", []int{cmd.Process.Pid}); len(files) != 1 || files[0].Path != "/app" {
		t.Fatalf("found %v", files)
	}
	stop, stopped := make(chan bool), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			for _, put := range []func(string) error{
				func(next string) error { return os.Symlink(outside, next) }, func(next string) error { return os.Link(root+"/run", next) },
			} {
				if err := errors.Join(put(root+"/next"), os.Rename(root+"/next", root+"/app")); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	found := map[procfs.Inode]int{}
	for range 5000 {
		for _, f := range FilesBelow("/app", []int{cmd.Process.Pid}) {
			found[f.Inode]++
		}
	}
	close(stop)
	fixture.NoError(t, <-stopped)
	if len(found) != 1 || found[other.Inode] > 0 {
		t.Errorf("found %v, of which %v is outside", found, other.Inode)
	}
}
