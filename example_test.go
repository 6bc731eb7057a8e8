package ftgo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ftgo/ftgo"
)

// This tracer prints the slow calls of a program's functions, with their arguments, until Ctrl-C.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t := &ftgo.Tracer{Binary: os.Args[1], Funcs: os.Args[2:], Values: true}
	for call, err := range t.Calls(ctx) {
		if err != nil {
			log.Fatal(err) // the probes are gone by now
		}
		if call.Took > time.Millisecond {
			fmt.Println(call)
		}
	}
}

// This example counts the creators of goroutines in a process for ten seconds.
func ExampleTracer_Calls() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	t := &ftgo.Tracer{PIDs: []int{1234}, Funcs: []string{"runtime.newproc"}, Stack: 8, Entries: true}
	created := make(map[string]int)
	for call, err := range t.Calls(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		var stack []string
		for f := range call.Stack() {
			stack = append(stack, f.Func)
		}
		created[strings.Join(stack, " < ")]++
	}
	fmt.Println(created)
}

// This example sums the durations of calls by the value of an argument.
func ExampleTracer_Calls_arguments() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	byKey, err := timeByKey(ctx, &ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"main.(*Store).Get(key)"}})
	fmt.Println(byKey, err)
}

func timeByKey(ctx context.Context, t *ftgo.Tracer) (map[string]time.Duration, error) {
	byKey := make(map[string]time.Duration)
	for call, err := range t.Calls(ctx) {
		if err != nil {
			return byKey, err
		}
		if key, ok := call.Arg("key").Any().(string); ok {
			byKey[key] += call.Took
		}
	}
	return byKey, nil
}

// This example reads a recording as if it happened now. If calls were lost, the last item is a LossError.
func ExampleTracer_Calls_recording() {
	t := &ftgo.Tracer{Recording: "ftgo.rec", Binary: "./server"}
	for call, err := range t.Calls(context.Background()) {
		if loss := new(ftgo.LossError); errors.As(err, &loss) {
			log.Print(loss)
		} else if err != nil {
			log.Fatal(err)
		} else {
			fmt.Println(call.Began, call)
		}
	}
}

// This example counts calls of functions that a glob matches, and prints how many hits were lost.
func ExampleTracer_Count() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := (&ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"net/http.*"}}).Count(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Funcs {
		fmt.Printf("%8d %s\n", f.Calls, f.Func.Name)
	}
	fmt.Printf("%d hits, %d lost, %v ± %v\n", r.Hits, r.Lost, r.Until.Sub(r.From), r.Width)
}

// This example traces a program from its first call to its last.
func ExampleTracer_Reports() {
	t := &ftgo.Tracer{Command: exec.Command("./tool", "in.txt"), Funcs: []string{"main.parse"}}
	for r, err := range t.Reports(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Funcs[0].Calls, r.Funcs[0].Latency.Quantile(0.99))
	}
}

// This example is an exporter for Prometheus: the trace stores reports, and a scrape writes the latest one.
func ExampleTracer_Reports_prometheus() {
	var latest atomic.Pointer[ftgo.Report]
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		if r := latest.Load(); r != nil {
			prometheus(w, r)
		}
	})
	go func() { log.Fatal(http.ListenAndServe("localhost:9435", nil)) }()
	t := &ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"main.(*handler).*"}}
	for r, err := range t.Reports(context.Background(), 10*time.Second) {
		if err != nil {
			log.Fatal(err)
		}
		latest.Store(r)
	}
}

// prometheus writes latencies as histograms in the text format of Prometheus.
func prometheus(w io.Writer, r *ftgo.Report) {
	fmt.Fprintln(w, "# TYPE go_call_seconds histogram")
	for _, f := range r.Funcs {
		for _, bound := range []time.Duration{time.Microsecond, time.Millisecond, time.Second} {
			fmt.Fprintf(w, "go_call_seconds_bucket{function=%q,le=\"%g\"} %d\n", f.Func.Name, bound.Seconds(), f.Latency.AtMost(bound))
		}
		fmt.Fprintf(w, "go_call_seconds_bucket{function=%q,le=\"+Inf\"} %d\n", f.Func.Name, f.Completed)
		fmt.Fprintf(w, "go_call_seconds_sum{function=%q} %g\n", f.Func.Name, f.Sum.Seconds())
		fmt.Fprintf(w, "go_call_seconds_count{function=%q} %d\n", f.Func.Name, f.Completed)
	}
}

// This example lists the functions of a program that can be probed, and the reasons why others can't.
func ExampleTracer_List() {
	for f, err := range (&ftgo.Tracer{Binary: "/usr/bin/server", Funcs: []string{"main.*"}}).List() {
		if err != nil {
			log.Fatal(err)
		}
		if f.Unprobed != nil {
			fmt.Println(f.Name, f.Unprobed)
		} else {
			fmt.Printf("%s:%d %s\n", f.File, f.Line, f.Signature)
		}
	}
}
