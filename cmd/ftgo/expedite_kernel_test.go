package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// rcuExpedited is the kernel's switch.
const rcuExpedited = "/sys/kernel/rcu_expedited"

// TestKernelExpedite: grace periods are expedited while many events go, and the switch is put back.
func TestKernelExpedite(t *testing.T) {
	tracetest.LongKernel(t)
	now := func() string {
		b, err := os.ReadFile(rcuExpedited)
		if err != nil {
			t.Skipf("this kernel has no expedited grace periods: %v", err)
		}
		return strings.TrimSpace(string(b))
	}
	if now() != "0" {
		t.Skipf("%s is set by somebody", rcuExpedited)
	}
	single := func(e *cli.Env) {
		e.Adjust = func(f tracefs.Features) tracefs.Features { f.Append = false; return f }
	}
	target := fixture.Build(t, "exact")
	args := []string{"main.upper", "main.middle", "main.lower", "main.catch"}
	over, seen := make(chan bool), make(chan bool)
	go func() {
		set := false
		for {
			b, _ := os.ReadFile(rcuExpedited)
			set = set || strings.TrimSpace(string(b)) == "1"
			select {
			case <-over:
				seen <- set
				return
			default:
			}
		}
	}()
	o, b, r := observeTarget(t, single, "probe", target, args)
	close(over)
	if set := <-seen; r.code != cli.ExitOK || !set {
		t.Errorf("status %d, set meanwhile: %v\n%s", r.code, set, r.stderr)
	}
	for _, name := range args {
		if got := o.functions[name].Calls; got != b.Functions[name].Calls {
			t.Errorf("%s: %d calls, want %d", name, got, b.Functions[name].Calls)
		}
	}
	if now() != "0" {
		t.Errorf("%s is %s afterwards", rcuExpedited, now())
	}
}
