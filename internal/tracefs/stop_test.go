package tracefs

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// slowToDisarm takes its time for the first event that is disarmed, and notes what else is done meanwhile.
type slowToDisarm struct {
	files
	begun     chan struct{}
	busy      atomic.Bool
	meanwhile atomic.Int32
}

func (s *slowToDisarm) note() {
	if s.busy.Load() {
		s.meanwhile.Add(1)
	}
}

func (s *slowToDisarm) Write(path, text string) error {
	s.note()
	if strings.HasSuffix(path, "/enable") && text == "0" && s.begun != nil {
		begun := s.begun
		s.begun = nil
		s.busy.Store(true)
		close(begun)
		time.Sleep(100 * time.Millisecond)
		s.busy.Store(false)
	}
	return s.files.Write(path, text)
}

func (s *slowToDisarm) Append(path, text string) error { s.note(); return s.files.Append(path, text) }
func (s *slowToDisarm) Rmdir(path string) error        { s.note(); return s.files.Rmdir(path) }

// TestCloseAfterStop: what Stop has begun is over before anything is removed.
func TestCloseAfterStop(t *testing.T) {
	f, fake := newFake(t)
	begun := make(chan struct{})
	slow := &slowToDisarm{files: f.files, begun: begun}
	f.files = slow
	s, err := Start(t.Context(), f, Target{Path: "/bin/true"}, testEvents(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := slow.meanwhile.Load(); n > 0 {
		t.Errorf("%d writes while Stop was under way", n)
	}
	if left := fake.left(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
