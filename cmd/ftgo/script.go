package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/parse/recording"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

const aboutScript = `usage: ftgo script [flags] BINARY FUNC...

Write a shell script that records calls on a machine without ftgo. The script
needs root and a shell like dash or busybox, and nothing else. It checks that it
finds the same binary, prints a recording, and removes its probes however it
ends. A flag whose text begins with a command's name is for that --as only.

  ftgo script ./server main.handle >rec.sh
  sh rec.sh -d 10 >rec        there; sh rec.sh -h tells more
  ftgo report rec             here
`

// recordView is a view as far as planning needs one.
func recordView(o *options) (uprobe.Mode, run.View, error) {
	switch o.recorded.as {
	case "count":
		return uprobe.CountRecorded, view.NewTable(o.view(), uprobe.CountRecorded), nil
	case "trace":
		mode := uprobe.Latency
		if o.lines.Entries {
			mode = uprobe.Entries
		}
		v, err := view.NewLines(o.view())
		return mode, v, err
	}
	return uprobe.Latency, view.NewTable(o.view(), uprobe.Latency), nil
}

func scriptCommand(e *env) *cli.Command {
	o := newOptions(e)
	o.Signatures = true
	return &cli.Command{
		Name: "script", Summary: "write a shell script that records calls where there is no ftgo", About: aboutScript,
		Groups: []cli.Group{
			cli.Defines(o.defineScript), &o.Target, cli.Some("", &o.recorder, "buffer", "max-probes"), o.CallerFlags.Group("record who called"), &o.fetch,
		},
		Words: o.words("script"),
		Run:   func(context.Context) error { return script(e, o) },
	}
}

func script(e *env, o *options) (err error) {
	t := &planned{env: e, opt: o}
	// Of the kernel it will run on nothing is known: it may be one that counts hits of two
	// CPUs as one, so that they are better recorded.
	t.features = tracefs.Features{Append: true, PushEmulated: true, Arrays: true, RecordTGID: true, EventFork: true, EventPID: true, Memory: true, Instances: true}
	if o.recorded.kernel != "" {
		if t.features, err = tracefs.FeaturesOf(o.recorded.kernel); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
		if !t.features.Instances {
			return cli.Usage("script: --kernel %s: scripts record in instances, which uprobes are in since Linux 3.14", o.recorded.kernel)
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
	if t.target, err = o.resolve(e); err != nil {
		return err
	}
	defer t.target.Binary.Close()
	values, err := v.Values(t.target, t.features)
	if err != nil {
		return err
	}
	if t.plan, err = planFor(e, t.target, uprobe.Options{Mode: mode, Features: t.features, Values: values, Stack: o.Stack}); err != nil {
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

// script is the text of the one that runs the plan.
func (t *planned) script() (string, error) {
	sums, err := t.target.Binary.File().Checksums()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(t.opt.Binary)
	if err != nil {
		return "", err
	}
	plan, err := json.Marshal(t.plan)
	if err != nil {
		return "", err
	}
	binary := recording.File{Path: path, Size: sums.Size, BuildID: t.target.Binary.File().BuildID(), SHA256: sums.SHA256}
	about, err := json.Marshal(recording.About{
		Made: releaseName(), Command: t.opt.recorded.as, Binary: binary, Options: optionsOf(t), Plan: plan,
	})
	if err != nil {
		return "", err
	}
	s := recording.Script{
		Title: fmt.Sprintf("Records calls of %s at %s, for ftgo report.\nMade by ftgo %s; sh SCRIPT -h tells more.",
			cli.Plural(len(t.plan.Funcs), "function"), cli.Plural(t.plan.Probes(), "place"), releaseName()),
		Events: uprobe.TraceEvents(t.plan.Events), Binary: binary, CRC: sums.CRC, Shown: printable.Text(path), About: printable.JSON(about), BufferKB: t.env.bufferKB,
	}
	if t.opt.duration > 0 {
		s.Seconds = strconv.FormatFloat(t.opt.duration.Seconds(), 'f', -1, 64)
	}
	return s.Text()
}
