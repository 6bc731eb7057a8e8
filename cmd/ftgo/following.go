package main

import (
	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// maxComm is how much of a process's name the kernel keeps (TASK_COMM_LEN less its zero).
const maxComm = 15

// defineFollowing defines the flags that say which processes are wanted, -p aside.
func (o *options) defineFollowing(fs *pflag.FlagSet) {
	fs.BoolVar(&o.fork, "fork", false, "also trace child processes of -p or PROGRAM")
	fs.StringVar(&o.comm, "comm", "", "trace only processes that ps -o comm calls `NAME`")
}

// checkFollowing refuses what contradicts itself.
func (o *options) checkFollowing(name string) error {
	switch {
	case o.fork && len(o.pids) == 0 && len(o.program) == 0:
		return cli.Usage("%s: --fork goes with -p PID or -- PROGRAM: else every process of BINARY is probed", name)
	case o.comm != "" && len(o.pids) > 0:
		return cli.Usage("%s: -p and --comm exclude each other", name)
	case o.comm != "" && o.fork:
		return cli.Usage("%s: --fork and --comm exclude each other", name)
	}
	if o.perPID && o.sched {
		return cli.Usage("%s: --sched adds up what calls of all processes waited for: not with --per-pid", name)
	}
	o.comm = o.comm[:min(len(o.comm), maxComm)]
	return nil
}

// restricted: not all processes of the file are wanted.
func (o *options) restricted() bool { return len(o.pids) > 0 || o.fork || o.comm != "" }
