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
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/tracetest"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// observe traces the functions that a pattern selects, until ctx is done.
func observe(ctx context.Context, path, pattern string, seen func(function string, took time.Duration)) (err error) {
	binary, err := offsets.Open(path)
	if err != nil {
		return err
	}
	defer binary.Close()
	glob, err := symname.Glob(pattern)
	if err != nil {
		return err
	}
	funcs, _, _ := offsets.Select(binary.Funcs(), []symname.Pattern{glob}, nil)
	fs, err := tracefs.Find()
	if err != nil {
		return err
	}
	plan, err := uprobe.New(binary, funcs, uprobe.Options{Features: fs.Features()})
	if err != nil {
		return err
	}
	session, err := tracefs.Start(ctx, fs, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for call, err := range parse.Calls(ctx, session, plan) {
		if err != nil {
			return err
		}
		base, err := session.Timebase()
		if err != nil {
			return err
		}
		if call.Outcome == parse.Returned {
			seen(plan.Funcs[call.Func].Name, base.Duration(call.Start, call.End))
		}
	}
	return nil
}

// prometheus observes functions, and then writes their latencies as a histogram in
// Prometheus' text format.
func prometheus(ctx context.Context, w io.Writer, path, pattern string) error {
	bounds := []time.Duration{time.Microsecond, time.Millisecond, time.Second}
	type histogram struct {
		buckets [3]int
		count   int
		sum     time.Duration
	}
	all := make(map[string]*histogram)
	err := observe(ctx, path, pattern, func(function string, took time.Duration) {
		h := all[function]
		if h == nil {
			h = new(histogram)
			all[function] = h
		}
		for i, bound := range bounds {
			if took <= bound {
				h.buckets[i]++
			}
		}
		h.count, h.sum = h.count+1, h.sum+took
	})
	fmt.Fprintln(w, "# TYPE go_call_seconds histogram")
	for function, h := range all {
		for i, bound := range bounds {
			fmt.Fprintf(w, "go_call_seconds_bucket{function=%q,le=\"%g\"} %d\n", function, bound.Seconds(), h.buckets[i])
		}
		fmt.Fprintf(w, "go_call_seconds_bucket{function=%q,le=\"+Inf\"} %d\n", function, h.count)
		fmt.Fprintf(w, "go_call_seconds_sum{function=%q} %g\n", function, h.sum.Seconds())
		fmt.Fprintf(w, "go_call_seconds_count{function=%q} %d\n", function, h.count)
	}
	return err
}

// Example_prometheus is an exporter: ten seconds of a server's handlers.
func Example_prometheus() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := prometheus(ctx, os.Stdout, "/usr/bin/server", "main.(*handler).*"); err != nil {
		fmt.Println(err)
	}
}

func TestKernelExamplePrometheus(t *testing.T) {
	fs := tracetest.Kernel(t)
	target := fixture.Build(t, "exact")
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- prometheus(ctx, &out, target, "main.sleep*") }()
	tracetest.WaitArmed(t, fs)
	if b, err := exec.Command(target).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	tracetest.WaitRead(t, fs)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`go_call_seconds_bucket{function="main.sleep5",le="0.001"} 0`,
		`go_call_seconds_bucket{function="main.sleep5",le="+Inf"} 23`,
		`go_call_seconds_count{function="main.sleep5"} 23`,
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
