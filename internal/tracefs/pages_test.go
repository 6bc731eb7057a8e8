package tracefs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPassShares: a CPU that never comes to its end does not keep the others waiting.
func TestPassShares(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"cpu0": 2 * passPages * bufferSize, "cpu1": 0} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "trace_pipe_raw"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := openPages(osFiles{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, want := range []struct {
		n       int
		emptied bool
	}{{passPages, false}, {passPages, false}, {0, true}} {
		emptied, others := false, 0
		n, err := r.pass(func(cpu int, page []byte) {
			emptied = emptied || cpu == 0 && len(page) == 0
			others += cpu
		})
		if n != want.n || emptied != want.emptied || others != 1 || err != nil || r.rest != want.emptied {
			t.Errorf("%d pages, %v; emptied %v, the other CPU read %d times; want %+v", n, err, emptied, others, want)
		}
	}
}
