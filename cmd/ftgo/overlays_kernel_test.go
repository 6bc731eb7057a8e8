package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// overlaid is a folder that has the files of a layer, by overlayfs.
func overlaid(t *testing.T, layer string) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := syscall.Mount("overlay", root, "overlay", 0, "lowerdir="+layer+":"+t.TempDir()); err != nil {
		t.Skipf("mount an overlay: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(root, syscall.MNT_DETACH) })
	return root
}

// TestKernelOverlays: processes of one image that run its file through a mount of overlayfs each are
// taken for what they are to the kernel, processes of one file.
func TestKernelOverlays(t *testing.T) {
	tracetest.LongKernel(t)
	layer := t.TempDir()
	copyFile(t, fixture.Build(t, "family"), layer+"/family")
	var members []*member
	for range 2 {
		members = append(members, family(t, overlaid(t, layer)+"/family", "stdin", "work=3"))
	}
	for _, path := range []string{members[0].Path, layer + "/family"} {
		if !procfs.SameFile(path, procfs.Exe(members[1].Process.Pid)) {
			t.Errorf("%s and %s are two files", path, members[1].Path)
		}
	}
	// Who may not ask for pages' numbers knows by this.
	inodes := make(map[procfs.Inode]bool)
	for _, m := range members {
		info, err := os.Stat(m.Path)
		noError(t, err)
		inodes[procfs.InodeOf(m.Path, info)] = true
	}
	if len(inodes) != 1 {
		t.Errorf("one file of a layer has %v", inodes)
	}
	// Folders differ by what else is below.
	for _, m := range members {
		dir := filepath.Dir(m.Path)
		info, err := os.Stat(dir)
		noError(t, err)
		inodes[procfs.InodeOf(dir, info)] = true
	}
	if len(inodes) != 3 {
		t.Errorf("one file and two folders have %v", inodes)
	}
	copied := t.TempDir() + "/family"
	copyFile(t, layer+"/family", copied)
	info, err := os.Stat(layer + "/family")
	if err == nil {
		err = os.Chtimes(copied, info.ModTime(), info.ModTime())
	}
	if err != nil || procfs.SameFile(copied, layer+"/family") {
		t.Errorf("a copy is the same file, %v", err)
	}
	args := []string{built(t), "probe", "-o", "json", "-p", members[0].pid(), "-p", members[1].pid(), "main.work"}
	if _, err := exec.LookPath("setpriv"); err == nil {
		args = append([]string{"setpriv", "--bounding-set=-sys_admin"}, args...)
	}
	p := start(t, exec.Command(args[0], args[1:]...))
	p.await(t)
	for _, m := range members {
		m.goOn(t)
	}
	workCalls(t, p.result(t), 2*3)
}
