package procfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"golang.org/x/sys/unix"
)

// TestOpenBelow checks that no link of a hostile root folder leads out of it.
func TestOpenBelow(t *testing.T) {
	dir := t.TempDir()
	root := dir + "/root"
	for _, path := range []string{"root/app/deep", "root/etc", "app"} {
		fixture.NoError(t, os.MkdirAll(dir+"/"+path, 0o755))
	}
	for path, text := range map[string]string{
		"secret": "outside", "app/server": "outside", "root/app/server": "inside", "root/etc/passwd": "theirs", "root/secret.txt": "theirs",
	} {
		fixture.NoError(t, os.WriteFile(dir+"/"+path, []byte(text), 0o644))
	}
	for link, to := range map[string]string{
		"absolute": "/app/server", "etc/mtab": "/etc/passwd", "up": "../../../app/server", "app/beside": "./server", "folder": "/app", "over": "folder/beside",
		"out": dir + "/secret", "loop": "loop", "proc": "/proc/self/root", "dangling": "/nowhere",
	} {
		fixture.NoError(t, os.Symlink(to, root+"/"+link))
	}
	fixture.NoError(t, syscall.Mkfifo(root+"/pipe", 0o644))
	for _, c := range []struct{ path, resolved, text string }{
		{"/app/server", "/app/server", "inside"},
		{"app//./server", "/app/server", "inside"},
		{"/../../app/server", "/app/server", "inside"},
		{"/app/deep/../server", "/app/server", "inside"},
		{"/absolute", "/app/server", "inside"},
		{"/up", "/app/server", "inside"},
		{"/over", "/app/server", "inside"},
		{"/folder/server", "/app/server", "inside"},
		{"/etc/mtab", "/etc/passwd", "theirs"},
	} {
		file, resolved, err := OpenBelow(root, c.path)
		if err != nil || resolved != c.resolved {
			t.Errorf("%s: %q, %v; want %q", c.path, resolved, err, c.resolved)
			continue
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != c.text {
			t.Errorf("%s: reads %q, %v", c.path, text, err)
		}
		file.Close()
	}
	for path, want := range map[string]error{
		"/out": os.ErrNotExist, "/proc/secret": syscall.ELOOP, "/dangling": os.ErrNotExist, "/loop": syscall.ELOOP, "/app/server/x": syscall.ENOTDIR,
		"/" + strings.Repeat("x", 300): syscall.ENAMETOOLONG, "/pipe": nil, "/app": nil, "": nil,
	} {
		file, resolved, err := OpenBelow(root, path)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want %v", path, resolved, err, want)
		}
		file.Close()
	}
	before, _ := filepath.Glob("/proc/self/fd/*")
	for range 3 {
		OpenBelow(root, "/folder/deep/../../loop")
	}
	if after, _ := filepath.Glob("/proc/self/fd/*"); len(after) > len(before) {
		t.Errorf("%d descriptors are left open", len(after)-len(before))
	}
}

// TestOpenNoDevice checks that only regular files are opened, because opening a device may have effects.
func TestOpenNoDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.debug")
	fixture.NoError(t, unix.Mkfifo(path, 0o600))
	events, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(events)
	if _, err := unix.InotifyAddWatch(events, path, unix.IN_OPEN); err != nil {
		t.Skip(err)
	}
	if f, _, err := OpenBelow("/", path); err == nil {
		f.Close()
		t.Error("it was taken")
	}
	var event [4096]byte
	if n, err := unix.Read(events, event[:]); err != unix.EAGAIN {
		t.Errorf("it was opened: %d bytes of events, %v", n, err)
	}
}
