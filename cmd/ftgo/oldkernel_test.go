package main

import (
	"context"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// kernelsWithout returns the features of the running kernel without one of them, or those of an old kernel.
var kernelsWithout = map[string]func(tracefs.Features) tracefs.Features{
	"append":      func(f tracefs.Features) tracefs.Features { f.Append, f.PushEmulated = false, false; return f },
	"push":        func(f tracefs.Features) tracefs.Features { f.PushEmulated = false; return f },
	"record-tgid": func(f tracefs.Features) tracefs.Features { f.RecordTGID = false; return f },
	"arrays":      func(f tracefs.Features) tracefs.Features { f.Arrays = false; return f },
	"event-fork":  func(f tracefs.Features) tracefs.Features { f.EventFork = false; return f },
	"event-pid":   func(f tracefs.Features) tracefs.Features { f.EventPID = false; return f },
	"exact-hits":  func(f tracefs.Features) tracefs.Features { f.ExactHits = false; return f },
	"linux-4.4":   likeLinux44,
	"linux-3.10":  likeLinux310,
}

// likeLinux44 returns the features that Linux 4.4 has.
func likeLinux44(tracefs.Features) tracefs.Features {
	return tracefs.Features{Memory: true, Instances: true, EventPID: true}
}

// likeLinux310 returns the features that Linux 3.10 has.
func likeLinux310(tracefs.Features) tracefs.Features { return tracefs.Features{} }

// linux44 lets ftgo do without what that kernel lacks.
func linux44(e *cli.Env) { e.Adjust = likeLinux44 }

// ftgoOn is ftgo on another kernel.
func ftgoOn(t *testing.T, kernel func(*cli.Env), args ...string) result {
	t.Helper()
	var out, err written
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e := newEnv(&out, &err)
	kernel(e)
	code := runCommand(ctx, e, args)
	return result{code, out.String(), err.String()}
}
