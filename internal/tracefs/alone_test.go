package tracefs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func (f *fakeFiles) Perf(idFile, filter string, tid int) (int, error) {
	if err := f.step("perf", idFile, fmt.Sprint(tid, filter)); err != nil {
		return -1, err
	}
	r, w := f.pipe()
	event := filepath.Base(filepath.Dir(filepath.Dir(idFile))) + "/" + filepath.Base(filepath.Dir(idFile))
	f.perf[event] = append(f.perf[event], w)
	return r, nil
}

func (f *fakeFiles) Watch(path string) (r int, err error) {
	if err := f.step("watch", path); err != nil {
		return -1, err
	}
	r, f.watch = f.pipe()
	return r, nil
}

// pipe returns the ends of a pipe. The test closes the write end.
func (f *fakeFiles) pipe() (r, w int) {
	var ends [2]int
	fixture.NoError(f.t, unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
	f.t.Cleanup(func() { unix.Close(ends[1]) })
	return ends[0], ends[1]
}

func pollNow(p []unix.PollFd) int {
	n, _ := unix.Poll(p, 0)
	return n
}

// TestAlone checks which events are armed in single processes, for each of their threads, and that the descriptors are
// closed.
func TestAlone(t *testing.T) {
	f, fake := newFake(t)
	s := start(t, f, Options{Alone: []int{os.Getpid()}})
	if is, err := s.Alone(); !is || err != nil {
		t.Fatalf("alone: %v, %v", is, err)
	}
	armed := func() (of []string) {
		for _, l := range fake.log {
			if strings.HasPrefix(l, "perf events/"+s.Name) || strings.HasSuffix(l, "enable 1") {
				of = append(of, strings.NewReplacer(s.Name, "S", "_0123456789", "").Replace(l))
			}
		}
		return of
	}
	first := fmt.Sprint("perf events/S/return0/id ", os.Getpid())
	got := armed()
	tids, err := procfs.Threads(os.Getpid())
	if n := len(got); err != nil || n > len(tids)+1 || n < 2 || got[0] != first || got[n-1] != "write instances/S/events/S/entry0/enable 1" {
		t.Errorf("armed %q for threads %d, %v", got, tids, err)
	}
	more := moreEvents()
	more[0].Recorded = true
	fixture.NoError(t, errors.Join(s.Extend(t.Context(), more), s.Arm(t.Context(), more[:1])))
	s.Share()
	fixture.NoError(t, s.Arm(t.Context(), more[1:]))
	if then := armed()[len(got):]; len(then) != 2 || strings.Contains(fmt.Sprint(then), "perf") {
		t.Errorf("then armed %q", then)
	}
	s.Join(more)
	fixture.NoError(t, s.Close())
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestOthers checks which definitions of others keep a session from arming single processes, at its start and later.
func TestOthers(t *testing.T) {
	me, err := newOwner()
	fixture.NoError(t, err)
	me.PID, me.Started = os.Getppid(), 1
	link := t.TempDir() + "/link"
	fixture.NoError(t, os.Symlink("/bin/true", link))
	for _, c := range []struct{ name, line, want string }{
		{"none", "", ""},
		{"another place", "p:g/e /bin/true:0x31", ""},
		{"a recorded event of this session is there", "p:g/e /bin/true:0x10", ""},
		{"another file", "p:g/e /bin/sh:0x30", ""},
		{"another file with a place of this one in its arguments", "p:g/e /bin/sh:0x31 a=@0x30", ""},
		{"the file", "p:g/e /bin/true:0x0000000000000030 a=%ax", `event "g/e"`},
		{"a return probe", "r:g/e /bin/true:0x30", `event "g/e"`},
		{"a reference counter", "p:g/e /bin/true:0x30(0x50)", `event "g/e"`},
		{"the file by another path", "p:g/e " + link + ":0x30", `event "g/e"`},
		{"a path that is not known here", "p:g/e /no/such/file:0x30", `event "g/e"`},
		{"a file that another program has open", "p:g/e /proc/self/fd/9:0x30", `event "g/e"`},
		{"another ftgo", "p:" + me.String() + "/e /bin/true:0x30", "another ftgo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := func(when string, err error) {
				if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v, want %q", when, err, c.want)
				}
			}
			f, fake := newFake(t)
			late := start(t, f, Options{Alone: []int{os.Getpid()}})
			fixture.NoError(t, late.Others())
			if c.line != "" {
				fixture.NoError(t, fake.Append(f.path("uprobe_events"), c.line+"\n"))
			}
			told("during", late.Others())
			if err := late.Others(); err != nil {
				t.Errorf("again, without a change: %v", err)
			}
			fixture.NoError(t, late.Close())
			early := start(t, f, Options{Alone: []int{os.Getpid()}})
			is, err := early.Alone()
			if told("at the start", err); is != (c.want == "") {
				t.Errorf("alone: %v", is)
			}
			fixture.NoError(t, early.Close())
		})
	}
}
