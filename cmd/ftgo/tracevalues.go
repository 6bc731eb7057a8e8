package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// captureOptions are what the flags and the kernel allow to be fetched.
func captureOptions(o *traceOptions, features tracefs.Features, b *offsets.Binary, f *offsets.Func) capture.Options {
	return capture.Options{StrLen: o.strLen, Items: o.items, Arrays: features.Arrays, Static: staticFetch(b, f)}
}

// staticFetch returns how the probes of a function fetch what is at an address of the
// file. In a position-independent program it is reckoned from the function: the kernel
// adds what follows @+ to the distance between the probe's address and its file offset
// (translate_user_vaddr in kernel/trace/trace_uprobe.c).
func staticFetch(b *offsets.Binary, f *offsets.Func) func(va uint64) string {
	return func(va uint64) string {
		if off, err := b.FileOffset(f.Addr); err == nil && b.Relocatable() {
			return fmt.Sprintf("@+%#x", va-(f.Addr-off))
		}
		return fmt.Sprintf("@%#x", va)
	}
}

// isError tells whether the last result is an error that is not nil.
func isError(results []capture.Value) bool {
	if len(results) == 0 {
		return false
	}
	last := &results[len(results)-1]
	return last.Type.Kind == gotype.Interface && last.Type.Name == "error" && last.State != capture.Unfetched && !last.Nil()
}

// values plans what to fetch for the functions' lines and for the filter.
func (v *tracer) values(s *selection, features tracefs.Features) (planValues, error) {
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		sig, err := s.binary.Signature(f)
		if err != nil {
			v.notes[f.Name] = err.Error()
			return out, nil
		}
		v.notes[f.Name] = sig.Note
		atEntry := append(slices.Clone(sig.Params), sig.Captured...)
		if sites.Late {
			for i := range atEntry {
				atEntry[i].Err = errLate
			}
		}
		opt := captureOptions(&v.opt.trace, features, s.binary, f)
		if out.Entry, err = capture.New(atEntry, nil, opt); err != nil {
			return out, err
		}
		if v.opt.trace.entries {
			return out, nil
		}
		out.Return, err = capture.New(sig.Results, nil, opt)
		return out, err
	}, nil
}

// errLate: the function's first instructions can't be probed.
var errLate = errors.New("its register may be in use for something else where the probe is")
