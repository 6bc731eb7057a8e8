package ftgo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelLeavesNothing checks that the probes and the started program are gone, however a loop ends. [tracetest.Kernel]
// looks for leftovers.
func TestKernelLeavesNothing(t *testing.T) {
	fs := tracetest.Kernel(t)
	clean := func(t *testing.T, c *exec.Cmd) {
		t.Helper()
		tracetest.CheckClean(t, fs)
		if c.ProcessState == nil {
			t.Error("the program still runs")
		}
	}
	endless := func(t *testing.T) *ftgo.Tracer {
		return &ftgo.Tracer{Command: exec.Command(fixture.Build(t, "greet"), "-n", "1000000", "-every", "1ms"), Funcs: []string{"main.add"}, Values: true}
	}
	t.Run("break", func(t *testing.T) {
		tracer := endless(t)
		for _, err := range tracer.Calls(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		clean(t, tracer.Command)
	})
	t.Run("panic", func(t *testing.T) {
		tracer := endless(t)
		func() {
			defer func() {
				if recover() != "enough" {
					t.Error("the panic was lost")
				}
			}()
			for range tracer.Calls(t.Context()) {
				panic("enough")
			}
		}()
		clean(t, tracer.Command)
	})
	t.Run("cancel", func(t *testing.T) {
		tracer := endless(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range tracer.Calls(ctx) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 3 {
				cancel()
			}
		}
		if n < 3 {
			t.Errorf("%d calls", n)
		}
		clean(t, tracer.Command)
	})
	t.Run("canceled before it began", func(t *testing.T) {
		tracer := &ftgo.Tracer{Binary: fixture.Build(t, "greet"), Funcs: []string{"main.add"}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for c, err := range tracer.Calls(ctx) {
			t.Errorf("%v, %v", c, err)
		}
	})
	t.Run("break of reports", func(t *testing.T) {
		tracer := endless(t)
		for _, err := range tracer.Reports(t.Context(), 20*time.Millisecond) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		clean(t, tracer.Command)
	})
	t.Run("no such program", func(t *testing.T) {
		tracer := &ftgo.Tracer{Binary: fixture.Build(t, "greet"), Command: exec.Command(t.TempDir()), Funcs: []string{"main.add"}}
		var errs []error
		for _, err := range tracer.Calls(t.Context()) {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !strings.HasPrefix(fmt.Sprint(errs[0]), "run "+tracer.Command.Path+": ") {
			t.Errorf("%v", errs)
		}
	})
}

// TestKernelLoss checks that a trace with a full buffer ends with a LossError.
func TestKernelLoss(t *testing.T) {
	tracetest.Kernel(t)
	flood := func() *ftgo.Tracer {
		tracer := &ftgo.Tracer{Command: exec.Command(fixture.Build(t, "flood"), "-n", "20000", "-g", "2"), Funcs: []string{"main.framed"}}
		tracer.SetBuffer(4)
		return tracer
	}
	var loss *ftgo.LossError
	seen := uint64(0)
	for c, err := range flood().Calls(t.Context()) {
		switch {
		case loss != nil:
			t.Fatalf("%v comes behind the loss", c)
		case err != nil && !errors.As(err, &loss):
			t.Fatal(err)
		case err == nil && c.Outcome == ftgo.Returned:
			if seen++; seen == 1 {
				time.Sleep(300 * time.Millisecond) // fills the buffer
			}
		}
	}
	const calls = 40_000
	if loss == nil || loss.Hits < 2*calls {
		t.Fatalf("%d calls seen, loss %v", seen, loss)
	}
	// Failed stack checks are hits, too, and may be lost.
	checks := loss.Hits - 2*calls
	if lost := loss.Funcs["main.framed"]; loss.Lost == 0 || loss.Lost > loss.Hits || lost == 0 || seen+lost > calls+checks {
		t.Errorf("%d calls seen, %d lost, loss %v", seen, lost, loss)
	}
}

// TestKernelErrors checks the kinds of errors.
func TestKernelErrors(t *testing.T) {
	tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	const foreign = "of another processor"
	for _, c := range []struct {
		name   string
		tracer ftgo.Tracer
		want   error
	}{
		{"no function", ftgo.Tracer{Binary: greet, Funcs: []string{"main.ad"}}, ftgo.ErrNoMatch},
		{"no functions", ftgo.Tracer{Binary: greet}, ftgo.ErrNoMatch},
		{"no file", ftgo.Tracer{Binary: greet + "s", Funcs: []string{"main.add"}}, os.ErrNotExist},
		{foreign, ftgo.Tracer{Funcs: []string{"main.add"}}, ftgo.ErrUnsupported},
		{"recording's functions", ftgo.Tracer{Recording: greet, Funcs: []string{"main.add"}}, ftgo.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == foreign {
				c.tracer.Binary = fixture.BuildFor(t, map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH], fixture.Current, "greet")
			}
			var errs []error
			for _, err := range c.tracer.Reports(t.Context(), 0) {
				errs = append(errs, err)
			}
			if len(errs) != 1 || !errors.Is(errs[0], c.want) {
				t.Errorf("%v, want %v", errs, c.want)
			}
		})
	}
}
