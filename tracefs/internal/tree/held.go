package tree

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// Up to Linux 5.4.0 one open trace_pipe, be it of the top level or of an instance, keeps every
// instance from being removed: the kernel counts it on the tracer, which instances share
// (kernel/trace/trace.c: tracing_open_pipe adds to current_trace->ref, instance_rmdir asks for
// it). So nothing may depend on an instance being removed: one that is held is emptied, and
// removed when the pipe is closed.

// heldFromElsewhere tells whether an instance that is busy is so for a pipe that is not its own.
func (t *Tree) heldFromElsewhere(instance string) bool {
	if t.Pipes.Load() > 0 { // of another session of this process
		return true
	}
	readers := t.Ops.PipeReaders()
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(r files.PipeReader) bool { return r.Reads(instance) })
}

// HeldError is an instance that can't be removed while others read their pipes.
type HeldError struct{ error }

func (e HeldError) Unwrap() error { return e.error }

// Empty takes out of an instance what it is made of, since it can't be removed: its events are
// off, and its buffers small. RemoveHeld tries again.
func (t *Tree) Empty(instance string) error {
	for _, set := range []struct{ file, value string }{{"events/enable", "0"}, {"buffer_size_kb", "1"}} {
		file := t.Path("instances", instance, set.file)
		if err := t.Ops.Write(file, set.value); err != nil && !files.IsGone(err) {
			return files.Refused("write", file, err)
		}
	}
	held.Lock()
	defer held.Unlock()
	held.instances[t.Dir] = append(held.instances[t.Dir], instance)
	return nil
}

// held are instances, by the tracefs that they are in, that this process could not remove yet.
var held = struct {
	sync.Mutex
	instances map[string][]string
}{instances: make(map[string][]string)}

// staying is the error of instances of ended sessions that others keep from being removed. Nothing
// is on in them, and nothing is lost.
func staying(instances []string, readers []files.PipeReader) error {
	text := "instance " + instances[0] + " stays, with nothing on in it, until "
	if n := len(instances); n > 1 {
		text = fmt.Sprintf("%d instances, %s among them, stay, with nothing on in them, until ", n, instances[0])
	}
	switch n := len(readers); n {
	case 0:
		return errors.New(text + "nobody has a file of tracefs open")
	case 1:
		return errors.New(text + readers[0].String())
	default:
		return fmt.Errorf("%s%v, and %d more close theirs", text, readers[0], n-1)
	}
}

// RemoveHeld removes the instances that Empty has left. It is an error that others keep some; those
// that a session of this process keeps are for another call.
func (t *Tree) RemoveHeld() error {
	held.Lock()
	defer held.Unlock()
	left := slices.DeleteFunc(held.instances[t.Dir], func(instance string) bool {
		return t.RemoveInstance(instance, PatienceWithOthers) == nil
	})
	held.instances[t.Dir] = left
	readers := t.Ops.PipeReaders()
	others := slices.DeleteFunc(slices.Clone(readers), func(r files.PipeReader) bool { return r.PID == os.Getpid() })
	if len(left) == 0 || len(readers) > 0 && len(others) == 0 {
		return nil
	}
	return staying(left, others)
}
