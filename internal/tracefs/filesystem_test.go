package tracefs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/machine"
)

func TestCheckFileSystem(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "ftgo-")
	var at unix.Statfs_t
	if err != nil || unix.Statfs(dir, &at) != nil || at.Type != unix.TMPFS_MAGIC {
		t.Skipf("/dev/shm is no tmpfs to write to: %v", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
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
		if err := checkFileSystem(c.path, machine.Machine{Release: c.release}.Older); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNotSupported) {
			t.Errorf("%s on Linux %s: %v", c.path, c.release, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	refused := &os.PathError{Op: "write", Path: "enable", Err: unix.EIO}
	if err := unreadable(refused); !errors.Is(err, unix.EIO) || !strings.Contains(err.Error(), "overlayfs") {
		t.Errorf("got %v", err)
	}
	if err := unreadable(unix.EINVAL); err != unix.EINVAL {
		t.Errorf("got %v", err)
	}
}
