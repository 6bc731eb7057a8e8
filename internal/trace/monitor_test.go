package trace

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
)

// TestSoleProcess checks whose the hits of threads are that have ended, if the kernel saves no TGIDs.
func TestSoleProcess(t *testing.T) {
	for name, c := range map[string]struct {
		filter   procfs.Filter
		program  *Command
		of, want []int
	}{
		"program":           {program: new(Command), of: []int{0, 7, 0, 7, 0}, want: []int{0, 7, 7, 7, 7}},
		"another process":   {program: new(Command), of: []int{7, 0, 8, 0, 7, 0}, want: []int{7, 7, 8, 0, 7, 0}},
		"without a program": {of: []int{7, 0}, want: []int{7, 0}},
		"-p":                {filter: procfs.Filter{PIDs: []int{9}}, of: []int{0, 9, 7, 0}, want: []int{9, 9, 7, 9}},
		"-p --fork":         {filter: procfs.Filter{PIDs: []int{9}, Fork: true}, of: []int{9, 0}, want: []int{9, 0}},
	} {
		l := &Live{window: window{opt: Options{Filter: c.filter}}, program: c.program}
		var got []int
		for _, pid := range c.of {
			got = append(got, l.orSole(pid))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
