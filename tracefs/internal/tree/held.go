package tree

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
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
	readers := t.PipeReaders()
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(r PipeReader) bool {
		return strings.Contains(r.Path, "/instances/"+instance+"/")
	})
}

// HeldError is an instance that can't be removed while others read their pipes.
type HeldError struct{ error }

func (e HeldError) Unwrap() error { return e.error }

// Empty takes out of an instance what it is made of, since it can't be removed: its events are
// off, and its buffers small. RemoveHeld tries again.
func (t *Tree) Empty(instance string) error {
	for _, set := range [][2]string{{"events/enable", "0"}, {"buffer_size_kb", "1"}} {
		if err := t.Write(t.Path("instances", instance, set[0]), set[1]); err != nil && !IsGone(err) {
			return err
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

// RemoveHeld removes the instances that Empty has left. It is an error that others keep some; those
// that a session of this process keeps are for another call.
func (t *Tree) RemoveHeld() error {
	held.Lock()
	defer held.Unlock()
	left := slices.DeleteFunc(held.instances[t.Dir], func(instance string) bool {
		return t.RemoveInstance(instance, PatienceWithOthers) == nil
	})
	held.instances[t.Dir] = left
	readers := t.PipeReaders()
	others := slices.DeleteFunc(slices.Clone(readers), func(r PipeReader) bool { return r.PID == os.Getpid() })
	if len(left) == 0 || len(readers) > 0 && len(others) == 0 {
		return nil
	}
	text := "instance " + left[0] + " stays, with nothing on in it, until "
	if n := len(left); n > 1 {
		text = fmt.Sprintf("%d instances, %s among them, stay, with nothing on in them, until ", n, left[0])
	}
	switch n := len(others); n {
	case 0:
		return errors.New(text + "nobody has a file of tracefs open")
	case 1:
		return errors.New(text + others[0].String())
	default:
		return fmt.Errorf("%s%v, and %d more close theirs", text, others[0], n-1)
	}
}
