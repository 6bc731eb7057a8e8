//go:build ignore

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// floodCat measures cat as the reader of a session that is set up as ftgo sets up its own.
func (b *bench) floodCat(f flood) (flow, error) {
	return b.flooding(func(int) (measured flow, err error) {
		binary, err := offsets.Open(b.path("hot"))
		if err != nil {
			return measured, err
		}
		defer binary.Close()
		fn, ok := binary.Lookup("main.framed")
		if !ok {
			return measured, errors.New("no such function")
		}
		fs, err := tracefs.Find()
		if err != nil {
			return measured, err
		}
		plan, err := uprobe.New(binary, []*offsets.Func{fn}, uprobe.Options{Mode: f.mode, Features: fs.Features()})
		if err != nil {
			return measured, err
		}
		session, err := tracefs.Start(b.ctx, fs, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{BufferKB: 16 << 10})
		if err != nil {
			return measured, err
		}
		defer func() { err = errors.Join(err, session.Close()) }()
		return b.catPipe(filepath.Join(fs.Dir(), "instances", session.Name()))
	})
}

// catPipe lends cat the trace_pipe that the session in this process has open: the kernel
// lets it be opened once only.
func (b *bench) catPipe(instance string) (measured flow, err error) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return measured, err
	}
	for _, d := range fds {
		name, err := os.Readlink("/proc/self/fd/" + d.Name())
		if err != nil || !strings.HasPrefix(name, instance) || filepath.Base(name) != "trace_pipe" {
			continue
		}
		fd, err := strconv.Atoi(d.Name())
		if err != nil {
			return measured, err
		}
		if fd, err = syscall.Dup(fd); err != nil {
			return measured, err
		}
		pipe := os.NewFile(uintptr(fd), name)
		defer pipe.Close()
		if err := syscall.SetNonblock(fd, false); err != nil {
			return measured, err
		}
		// cat waits for each event if it has read all, and the program pays for waking it.
		// It starts with a full buffer, to be measured at its best.
		time.Sleep(b.settle())
		cat := exec.CommandContext(b.ctx, "cat")
		cat.Stdin = pipe
		if err := cat.Start(); err != nil {
			return measured, err
		}
		measured, err = b.sampled(cat.Process.Pid, instance, b.window())
		_ = cat.Process.Kill()
		_ = cat.Wait()
		return measured, err
	}
	return measured, fmt.Errorf("find trace_pipe of %s among open files: not there", instance)
}
