package uprobe_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/tracetest"
	"github.com/ftgo/ftgo/tracefs/uprobe"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// creators counts the goroutines that are created until ctx is done, by the function
// that says go: runtime.newproc1 has its program counter for an argument.
func creators(ctx context.Context, path string) (counts map[string]int, err error) {
	binary, err := offsets.Open(path)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	newproc, ok := binary.Lookup("runtime.newproc1")
	if !ok {
		return nil, errors.New("no such function")
	}
	callerPC := func(f *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
		sig, err := binary.Signature(f)
		if err != nil {
			return v, err
		}
		v.Entry, err = capture.New(sig.Params, []string{"callerpc"}, capture.Options{})
		return v, err
	}
	fs, err := tracefs.Find()
	if err != nil {
		return nil, err
	}
	plan, err := uprobe.New(binary, []*offsets.Func{newproc}, uprobe.Options{Features: fs.Features(), Values: callerPC})
	if err != nil {
		return nil, err
	}
	session, err := tracefs.Start(ctx, fs, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	counts = make(map[string]int)
	for call, err := range parse.Calls(ctx, session, plan) {
		if err != nil {
			return counts, err
		}
		if pc := plan.Funcs[call.Func].Values.Entry.Decode(call.Args, nil)[0]; pc.State == capture.Known {
			if by, ok := binary.FuncAt(pc.Num); ok {
				counts[by.Name]++
			}
		}
	}
	return counts, nil
}

// Example_creators says who creates goroutines, for ten seconds.
func Example_creators() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	counts, err := creators(ctx, "/usr/bin/server")
	fmt.Println(counts, err)
}

func TestKernelExampleCreators(t *testing.T) {
	fs := tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		counts map[string]int
		err    error
	}
	done := make(chan result)
	go func() {
		counts, err := creators(ctx, target)
		done <- result{counts, err}
	}()
	tracetest.WaitArmed(t, fs)
	if b, err := exec.Command(target, "-n", "10", "-g", "7").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	tracetest.WaitRead(t, fs)
	cancel()
	if r := <-done; r.err != nil || r.counts["main.main"] != 7 {
		t.Errorf("%v, %v; want 7 of main.main", r.counts, r.err)
	}
}
