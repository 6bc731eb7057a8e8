package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// TestLeftOutIsTold: what trees are not whole of is said, and nothing if they are.
func TestLeftOutIsTold(t *testing.T) {
	var said bytes.Buffer
	scene := &Scene{Env: &cli.Env{Stderr: &said}, Plan: &uprobe.Plan{Follows: true}}
	v := &Lines{stream: stream{Scene: scene, opt: &Options{}}, trees: newForest(0, nil)}
	if v.warnLeftOut(0); said.Len() > 0 {
		t.Errorf("%s", said.String())
	}
	v.cut.trees, v.cut.lines, v.trees.unseen = 2, 30, 4
	v.warnLeftOut(5)
	for _, want := range []string{"30 lines left out of 2 trees", "room for 10000 in a tree, and for 200000 in all", "events were lost", "of 4 trees nobody knows how long they took"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, said.String())
		}
	}
}
