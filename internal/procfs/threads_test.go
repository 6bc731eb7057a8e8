package procfs

import (
	"os"
	"slices"
	"testing"
)

func TestStatusLine(t *testing.T) {
	const status = "Name:\tTgid: 7\nTgid:\t42\nNSpid:\t2345\t17\nPPid:\t\n"
	for key, want := range map[string]string{"Tgid": "42", "NSpid": "2345\t17", "PPid": "", "Pid": "", "Name": "Tgid: 7"} {
		if got := statusLine(status, key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestThreads(t *testing.T) {
	self := os.Getpid()
	tids, err := Threads(self)
	if err != nil || !slices.Contains(tids, self) {
		t.Fatalf("threads %v, %v", tids, err)
	}
	const gone = 1 << 30 // above any pid_max
	for _, tid := range tids {
		// A thread may have ended since.
		if got := ThreadGroup(tid); got != self && got != 0 {
			t.Errorf("thread %d: process %d, want %d", tid, got, self)
		}
	}
	if got := ThreadGroup(self); got != self && !ForeignNumbers() {
		t.Errorf("first thread: process %d, want %d", got, self)
	}
	if got := ThreadGroup(gone); got != 0 {
		t.Errorf("a thread that is gone: process %d", got)
	}
	if got, err := Threads(gone); err == nil {
		t.Errorf("a process that is gone: threads %v", got)
	}
	if numbers, err := NamespacePIDs(self); err != nil || numbers != nil && numbers[0] != self {
		t.Errorf("numbers %v, %v", numbers, err)
	}
}

// TestUnknown checks that functions return nothing for process 0, and not the state of this process.
func TestUnknown(t *testing.T) {
	mapped, err := Mappings(0)
	if stat, alive := LiveStat(0); len(mapped) > 0 || err == nil || alive || ThreadGroup(0) != 0 {
		t.Errorf("%d mappings, %v, %+v, process %d of thread 0", len(mapped), err, stat, ThreadGroup(0))
	}
	if mapped, err := Mappings(Self); len(mapped) == 0 || err != nil {
		t.Errorf("own: %d mappings, %v", len(mapped), err)
	}
}

func TestNamespace(t *testing.T) {
	if own, same := Namespace(Self, "pid"), Namespace(os.Getpid(), "pid"); own == 0 || own != same {
		t.Errorf("own %d, by number %d", own, same)
	}
	if got := Namespace(os.Getpid(), "none"); got != 0 {
		t.Errorf("of no kind: %d", got)
	}
}
