package main

import (
	"cmp"
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

func demoCommand(e *env) *cli.Command {
	c := probeCommand(e)
	self, err := os.Executable()
	words := c.Words
	c.Name, c.Summary, c.About = "demo", "probe a workload built into ftgo itself", aboutDemo
	c.Prepare = func(args []string) []string {
		args = append(append([]string{"--hist"}, args...), self)
		return append(append(args, workloadFuncs...), "--", self, "demo", workloadArg)
	}
	c.Words = func(args, program []string) error {
		if err := cmp.Or(err, words(args, program)); err != nil {
			return err
		}
		if args[0] != self {
			return cli.Usage("demo: %s: BINARY, FUNC and PROGRAM are its own (see ftgo demo -h)", args[0])
		}
		return nil
	}
	return c
}
