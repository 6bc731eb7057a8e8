package main

import (
	"errors"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// Errors for what old kernels can't do.
var (
	errTopLevel = errors.New("this kernel records uprobes at the top level of tracefs alone (Linux before 3.14), which everybody shares; --force uses it, with its buffer emptied, and puts its settings back")
	errNoMemory = errors.New("this kernel fetches registers alone, no memory (Linux before 3.14): calls can be counted (ftgo count), and shown as they begin (ftgo trace --entries)")
)

// kernelAllows refuses what the kernel can't do at all, or not without consent.
func (t *tracing) kernelAllows(mode uprobe.Mode) error {
	if _, watches := t.view.(*watcher); !t.features.Memory && (watches || mode == uprobe.Latency && t.needsGoroutines()) {
		return &statusError{exitKernel, errNoMemory}
	}
	if !t.features.Memory && t.opt.stack != 0 {
		return &statusError{exitKernel, errNoMemory}
	}
	if !t.features.Instances && len(t.opt.with) > 0 {
		return &statusError{exitKernel, errors.New("--with: kernel events are recorded in instances alone, which this kernel leaves empty (Linux before 3.14)")}
	}
	if !t.features.Instances && !t.opt.force {
		return &statusError{exitKernel, errTopLevel}
	}
	if !t.features.Memory && mode == uprobe.Entries {
		t.env.say("this kernel fetches registers alone, no memory: neither goroutines nor what pointers and strings lead to are shown")
	}
	return nil
}

// needsGoroutines tells whether calls can't be told apart by thread.
func (t *tracing) needsGoroutines() bool {
	for _, f := range t.sel.funcs {
		if f.ABI != offsets.SystemV {
			return true
		}
	}
	return false
}
