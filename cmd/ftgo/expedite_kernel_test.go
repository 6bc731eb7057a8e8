package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// rcuExpedited is the kernel's switch.
const rcuExpedited = "/sys/kernel/rcu_expedited"

// TestKernelExpedite: grace periods are expedited while many events go, which is told, unless
// that is forbidden; the switch is put back.
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
	single := func(e *session.Env) {
		e.Adjust = func(f tracefs.Features) tracefs.Features { f.Append = false; return f }
	}
	target := fixture.Build(t, "exact")
	for _, forbidden := range []bool{false, true} {
		args := []string{"-v", "main.upper", "main.middle", "main.lower", "main.catch"}
		if forbidden {
			args = append([]string{"--no-expedite"}, args...)
		}
		o, b, r := observeTarget(t, single, "probe", target, args)
		if told := strings.Contains(r.stderr, rcuExpedited+" is 1 while"); r.code != cli.ExitOK || told == forbidden {
			t.Errorf("status %d, forbidden %v\n%s", r.code, forbidden, r.stderr)
		}
		for _, name := range args[len(args)-4:] {
			if got := o.functions[name].Calls; got != b.Functions[name].Calls {
				t.Errorf("%s: %d calls, want %d", name, got, b.Functions[name].Calls)
			}
		}
		if now() != "0" {
			t.Errorf("%s is %s afterwards", rcuExpedited, now())
		}
	}
}
