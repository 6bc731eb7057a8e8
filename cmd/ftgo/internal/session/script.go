package session

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// recordView is a view as far as planning needs one.
func recordView(o *Options) (uprobe.Mode, run.View, error) {
	switch o.Recorded.As {
	case "count":
		return uprobe.CountRecorded, view.NewTable(o.View(), uprobe.CountRecorded), nil
	case "trace":
		mode := uprobe.Latency
		if o.Lines.Entries {
			mode = uprobe.Entries
		}
		v, err := view.NewLines(o.View())
		return mode, v, err
	}
	return uprobe.Latency, view.NewTable(o.View(), uprobe.Latency), nil
}

// Script writes the script that records what flags say.
func Script(e *Env, o *Options) (err error) {
	t := &planned{env: e, opt: o}
	// Of the kernel it will run on nothing is known: it may be one that counts hits of two
	// CPUs as one, so that they are better recorded.
	t.features = tracefs.Modern
	t.features.ExactHits = false
	if o.Recorded.kernel != "" {
		if t.features, err = tracefs.FeaturesOf(o.Recorded.kernel); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
		if !t.features.Instances {
			return cli.Usage("script: --kernel %s: scripts record in instances, which uprobes are in since Linux 3.14", o.Recorded.kernel)
		}
	}
	mode, v, err := recordView(o)
	if err != nil {
		return err
	}
	if mode == uprobe.CountRecorded && t.features.ExactHits {
		mode = uprobe.Count
	}
	t.view = v
	if t.target, err = o.Resolve(e); err != nil {
		return err
	}
	defer t.target.Binary.Close()
	if err := t.planFor(uprobe.Options{Mode: mode, Features: t.features, Stack: o.Stack}); err != nil {
		return err
	}
	if err := t.opt.checkProbes(e, t.plan.Probes(), pace(t.features, nil)); err != nil {
		return err
	}
	text, err := t.script()
	if err != nil {
		return err
	}
	out, done, err := o.Open(&e.Env, nil, o.Binary)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return errors.Join(err, done())
}

// Script is the text of the one that runs the plan.
func (t *planned) script() (string, error) {
	sums, err := t.target.Binary.File().Checksums()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(t.opt.Binary)
	if err != nil {
		return "", err
	}
	s := recording.Script{
		Title: fmt.Sprintf("Records calls of %s at %s, for ftgo report.\nMade by ftgo %s; sh SCRIPT -h tells more.",
			units.Plural(len(t.plan.Funcs), "function"), units.Plural(t.plan.Probes(), "place"), t.env.Release),
		About: recording.About{
			Made: t.env.Release, Command: t.opt.Recorded.As, Options: optionsOf(t),
			Binary: recording.File{Path: path, Size: sums.Size, BuildID: t.target.Binary.File().BuildID(), SHA256: sums.SHA256},
		},
		Plan: t.plan, CRC: sums.CRC, BufferKB: t.env.BufferKB,
	}
	if t.opt.Duration > 0 {
		s.Seconds = strconv.FormatFloat(t.opt.Duration.Seconds(), 'f', -1, 64)
	}
	return s.Text()
}
