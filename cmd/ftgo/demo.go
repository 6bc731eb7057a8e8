package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

const aboutDemo = `usage: ftgo demo [flags]

Run a small workload, which is built into ftgo, as a program of its own, and
probe its functions: fib (recursion), parseList (below a microsecond), sleep
(5 ms), recovers (a panic that its caller's caller recovers).
`

// workloadArg makes ftgo be the demo's program.
const workloadArg = "run-the-workload-of-the-demo"

func demo(ctx context.Context, e *env, args []string) error {
	if len(args) == 1 && args[0] == workloadArg {
		_, err := fmt.Fprintln(e.Stdout, runWorkload())
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args = append(append([]string{"--hist"}, args...), self)
	args = append(append(args, workloadFuncs...), "--", self, "demo", workloadArg)
	o, err := parseFlags(e, "demo", aboutDemo, selectFlags|runFlags|histFlags, args)
	if err != nil {
		return err
	}
	if o.binary != self {
		return cli.Usage("demo: %s: BINARY, FUNC and PROGRAM are its own (see ftgo demo -h)", o.binary)
	}
	return probeCalls(ctx, e, o)
}
