package uprobe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/tracetest"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// slow prints the calls of a function that take longer than limit, until ctx is done.
func slow(ctx context.Context, w io.Writer, path, function string, limit time.Duration) (err error) {
	binary, err := offsets.Open(path)
	if err != nil {
		return err
	}
	defer binary.Close()
	fn, ok := binary.Lookup(function)
	if !ok {
		return errors.New("no such function")
	}
	fs, err := tracefs.Find()
	if err != nil {
		return err
	}
	plan, err := uprobe.New(binary, []*offsets.Func{fn}, uprobe.Options{Features: fs.Features()})
	if err != nil {
		return err
	}
	session, err := tracefs.Start(ctx, fs, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{})
	if err != nil {
		return err
	}
	// No log.Fatal from here on: the probes must not outlive us.
	defer func() { err = errors.Join(err, session.Close()) }()
	clock, err := session.Timebase()
	if err != nil {
		return err
	}
	for call, err := range parse.Calls(ctx, session, plan) {
		if err != nil {
			return err
		}
		if d := clock.Duration(call.Start, call.End); call.Outcome == parse.Returned && d > limit {
			fmt.Fprintf(w, "goroutine %d: %s took %v\n", call.Goid, function, d)
		}
	}
	return nil
}

// Example is a tracer of one's own: it prints slow requests for a minute.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := slow(ctx, os.Stdout, "/usr/bin/server", "main.handle", 10*time.Millisecond); err != nil {
		fmt.Println(err)
	}
}

func TestKernelExample(t *testing.T) {
	fs := tracetest.Kernel(t)
	target := fixture.Build(t, "exact")
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- slow(ctx, &out, target, "main.sleep5", 4*time.Millisecond) }()
	tracetest.WaitArmed(t, fs)
	if b, err := exec.Command(target).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	tracetest.WaitRead(t, fs)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "main.sleep5 took "); n != 23 {
		t.Errorf("%d slow calls, want 23:\n%s", n, out.String())
	}
}
