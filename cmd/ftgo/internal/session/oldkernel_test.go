package session

import (
	"io"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// TestRefusedAtOnce checks that an impossible run is refused before --force is suggested, and that one error names
// all reasons for --force.
func TestRefusedAtOnce(t *testing.T) {
	sel := &target.Target{Funcs: []*offsets.Func{{Name: "main.f", ABI: offsets.ABIInternal}}}
	memory, all := tracefs.Features{Memory: true}, tracefs.Features{Memory: true, Instances: true}
	for _, c := range []struct {
		name     string
		features tracefs.Features
		mode     uprobe.Mode
		before40 bool
		want     []string
		forced   []string // in the error with --force
	}{
		{"probe on 3.10", tracefs.Features{}, uprobe.Latency, true, []string{"ftgo count"}, []string{"ftgo count"}},
		{"count on 3.10", tracefs.Features{}, uprobe.Count, true, []string{"hang", "top level", "--force"}, nil},
		{"probe on RHEL 7", memory, uprobe.Latency, true, []string{"hang", "top level", "--force"}, nil},
		{"probe on 3.16", all, uprobe.Latency, true, []string{"hang", "--force"}, nil},
		{"probe on 4.4", all, uprobe.Latency, false, nil, nil},
	} {
		for _, force := range []bool{false, true} {
			tr := &run{Options: &Options{Options: view.Options{Env: &cli.Env{Stdout: io.Discard, Stderr: io.Discard}}, Force: force}, request: engine.Request{Target: sel, Probes: uprobe.Options{Mode: c.mode, Features: c.features}}}
			want := c.want
			if force {
				want = c.forced
			}
			err := tr.checkKernel(c.before40)
			for _, w := range want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%s, force %v: %v, want %q", c.name, force, err, w)
				}
			}
			if len(want) == 0 && err != nil {
				t.Errorf("%s, force %v: %v", c.name, force, err)
			}
		}
	}
}
