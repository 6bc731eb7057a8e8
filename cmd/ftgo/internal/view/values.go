package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/internal/valuetext"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// isError tells whether the last result is an error that is not nil.
func isError(results []capture.Value) bool {
	if len(results) == 0 {
		return false
	}
	last := &results[len(results)-1]
	return capture.IsError(last.Type) && last.State != capture.Unfetched && (last.State == capture.Unreadable || !last.Nil())
}

// Values plans what to fetch for the functions' lines and for the filter.
func (v *Lines) Values(s *target.Target, features tracefs.Features) (run.Values, error) {
	return func(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
		if s.Roles[f].Hidden {
			return out, nil
		}
		sig, told, err := s.Signature(f)
		if err != nil {
			if told {
				return out, cli.WithStatus(cli.ExitUsage, err)
			}
			if v.where != nil {
				return out, v.without(s, f, err)
			}
			v.funcs[f] = &funcLines{note: target.Note(err)}
			v.unknown[target.Note(err)]++
			return out, nil
		}
		fl := &funcLines{note: sig.Note}
		v.funcs[f] = fl
		fetch := target.Fetch(v.opt.Fetch)
		if v.where != nil {
			// A string can only be told from the constant if as much of it is fetched.
			fetch.StrLen = min(max(fetch.StrLen, v.where.Longest()), maxStrLen)
		}
		entry, ret := fetch.Builders(s.Binary, f, sites, sig, v.opt.Stack, features)
		if v.where != nil {
			whole := v.opt.Whole(s.Roles[f].Inside)
			if fl.filter, err = newFuncFilter(*v.where, f, sig, entry, ret, v.opt.Lines.Entries, whole); err != nil {
				return out, v.without(s, f, err)
			}
			out.Filter = fl.filter.kernel
			v.sayFilter(f, fl.filter)
		} else {
			fl.filter = &funcFilter{}
		}
		shownArgs, shownResults := s.Shown(f, sig)
		if v.opt.Lines.Template.Text != "" {
			shownArgs, shownResults = templatePaths(v.opt.Lines.Template.Names(), sig)
		}
		if out.Entry, err = entry.Capture(shownArgs, fl.filter.atEntry); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		if v.opt.Lines.Entries {
			return out, nil
		}
		if last := len(sig.Results) - 1; v.opt.Lines.Errors && shownResults != nil && last >= 0 {
			fl.filter.atReturn = append(fl.filter.atReturn, sig.Results[last].Name)
			fl.errorBeside = true
		}
		if out.Return, err = ret.Capture(shownResults, fl.filter.atReturn); err != nil {
			return out, cli.WithStatus(cli.ExitUsage, err)
		}
		return out, nil
	}, nil
}

// without says what becomes of a function that --where can't be applied to: it is left out,
// unless it was asked for by name.
func (v *Lines) without(s *target.Target, f *offsets.Func, err error) error {
	if s.Roles[f].Named {
		return cli.WithStatus(cli.ExitUsage, err)
	}
	return uprobe.LeaveOut(err)
}

// sayFilter shows who evaluates what.
func (v *Lines) sayFilter(f *offsets.Func, ff *funcFilter) {
	if !v.opt.Verbose {
		return
	}
	for _, p := range ff.pushed {
		v.opt.Env.Say("%s: in the kernel: %s", f.Name, p)
	}
	if rest := ff.rest.String(); rest != "" {
		v.opt.Env.Say("%s: in user space: %s", f.Name, rest)
	}
}

// templatePaths are what --format names of a function's arguments and results; what it has
// not, the line will say.
func templatePaths(names []string, sig *offsets.Signature) (args, results []string) {
	args, results = []string{}, []string{}
	for _, path := range names {
		_, path = valuetext.CutPart(path) // it comes with the value
		switch {
		case target.HasRoot(sig.Params, path) || target.HasRoot(sig.Captured, path):
			args = append(args, path)
		case target.HasRoot(sig.Results, path):
			results = append(results, path)
		}
	}
	return args, results
}
