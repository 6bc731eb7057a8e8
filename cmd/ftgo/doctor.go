package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/tracefs"
)

func doctorCommand(e *env) *cli.Command {
	out := &cli.Output{Formats: cli.Rows}
	return &cli.Command{
		Name: "doctor", Summary: "check whether probing works here, and what it costs", Changes: true,
		Groups: []cli.Group{cli.Some("", out.Define, "output")},
		Run:    func(ctx context.Context) error { return diagnose(ctx, e, out.Format) },
	}
}

func diagnose(ctx context.Context, e *env, format render.Format) error {
	checks, works := examine(ctx, e)
	if err := render.Checks(e.Stdout, format, checks); err != nil {
		return err
	}
	if !works {
		return cli.WithStatus(cli.ExitKernel, errDoctor)
	}
	return nil
}

// errDoctor: the checks have said why.
var errDoctor = errors.New("probing does not work here")

// remedy ends the line that says what the kernel has refused: with the reason and what
// to type, where that is known.
func remedy(findings []doctor.Finding) string {
	found, ok := doctor.FirstMissing(findings)
	if !ok {
		return "; see ftgo doctor"
	}
	text := fmt.Sprintf("; %s: %s", found.Check, found.Text)
	if found.Fix != "" {
		text += ": $ " + found.Fix
	}
	if !strings.HasSuffix(text, "ftgo doctor") {
		text += "; see ftgo doctor"
	}
	return text
}

// examine makes all checks, a trial of probes the last.
func examine(ctx context.Context, e *env) (checks []render.Check, works bool) {
	findings := doctor.Diagnose(e.BufferKB)
	f, result, err := tryWhereItCan(ctx, e)
	works = err == nil
	for _, f := range findings {
		if works && f.Check == "tracefs" && f.State == doctor.Missing {
			// The trial has mounted it, and so does every other command.
			f.State = doctor.Warning
			f.Text += ": ftgo does it when it needs it"
		}
		checks = append(checks, render.Check{Check: f.Check, State: string(f.State), Text: f.Text, Fix: f.Fix})
	}
	cost := render.Check{Check: "cost", State: string(doctor.OK)}
	_, isMissing := doctor.FirstMissing(findings)
	switch {
	case works:
		cost.NS = &render.CostNS{Entry: result.Emulated, Return: result.Stepped, Word: result.Word}
		cost.Text = fmt.Sprintf("a hit costs the program %s where a call begins, %s where it ends, %s more for each word fetched",
			cost.NS.Text(cost.NS.Entry), cost.NS.Text(cost.NS.Return), cost.NS.Text(cost.NS.Word))
	case errors.Is(err, own.ErrNotTried) && f != nil && !isMissing:
		works = true
		cost.State, cost.Text = string(doctor.Unknown), err.Error()
	case isMissing:
		cost.State, cost.Text = string(doctor.Unknown), "not tried: see what is missing"
	default:
		cost.State, cost.Text = string(doctor.Missing), err.Error()
	}
	return append(checks, cost), works
}

// tryWhereItCan tries probes on the tracefs that is mounted, or on one that it mounts
// for the time.
func tryWhereItCan(ctx context.Context, e *env) (f *tracefs.FS, result trace.HitCost, err error) {
	f, unmount, err := tracefs.Mount()
	if unmount != nil {
		defer func() { err = errors.Join(err, unmount()) }()
	}
	if err != nil {
		return nil, result, err
	}
	e.FS = f
	result, err = own.Try(ctx, f, ownFunctions, e.Adjust(f.Features()))
	return f, result, err
}
