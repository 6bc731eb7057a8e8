package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
)

func doctorCommand(e *session.Env) *cli.Command {
	out := &cli.Output{Formats: cli.Rows}
	return &cli.Command{
		Name: "doctor", Summary: "check whether probing works here, and what it costs", Changes: true,
		Groups: []cli.Group{cli.Some("", out.Define, "output")},
		Run: func(ctx context.Context) error {
			checks, cost, works := examine(ctx, e)
			err := render.Checks(e.Stdout, out.Format, checks, cost)
			if err == nil && !works {
				err = cli.WithStatus(cli.ExitKernel, errDoctor)
			}
			return err
		},
	}
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

// examine makes all checks, a trial of probes the last. ns is what hits cost in nanoseconds, nil if
// that is not known.
func examine(ctx context.Context, e *session.Env) (findings []doctor.Finding, ns any, works bool) {
	findings = doctor.Diagnose(e.BufferKB)
	_, isMissing := doctor.FirstMissing(findings)
	result, err := tryWhereItCan(ctx, e)
	works = err == nil
	for i := range findings {
		if f := &findings[i]; works && f.Check == "tracefs" && f.State == doctor.Missing {
			// The trial has mounted it, and so does every other command.
			f.State = doctor.Warning
			f.Text += ": ftgo does it when it needs it"
		}
	}
	cost := doctor.Finding{Check: "cost", State: doctor.OK}
	text := func(ns float64) string { return printable.Duration(int64(math.Round(ns))) }
	switch {
	case works:
		ns = map[string]float64{"entry": result.Emulated, "return": result.Stepped, "word": result.Word, "fault": result.Fault}
		cost.Text = fmt.Sprintf("a hit costs the program %s where a call begins, %s where it ends, %s more for each word fetched, or %s behind a nil pointer",
			text(result.Emulated), text(result.Stepped), text(result.Word), text(result.Word+result.Fault))
	case errors.Is(err, own.ErrNotTried) && !isMissing:
		works = true
		cost.State, cost.Text = doctor.Unknown, err.Error()
	case isMissing:
		cost.State, cost.Text = doctor.Unknown, "not tried: see what is missing"
	default:
		cost.State, cost.Text = doctor.Missing, err.Error()
	}
	findings = append(findings, cost)
	if works && ns != nil {
		findings = append(findings, doctor.Finding{Check: "budget", State: doctor.OK, Text: allowance(result)})
	}
	return findings, ns, works
}

// allowance says what budgets allow where hits cost so much.
func allowance(cost pairing.HitCost) string {
	calls := func(percent, cost float64) string {
		return printable.Compact(math.Floor(percent / 100 * 1e9 / max(cost, 1)))
	}
	var texts []string
	for _, percent := range []float64{1, 5, 25} {
		texts = append(texts, fmt.Sprintf("--budget %v: %s or %s", percent, calls(percent, cost.Emulated), calls(percent, cost.Emulated+cost.Stepped)))
	}
	return "of one CPU so many calls a second are counted, or timed, " + strings.Join(texts, "; ")
}

// tryWhereItCan tries probes on the tracefs that is mounted, or on one that it mounts
// for the time.
func tryWhereItCan(ctx context.Context, e *session.Env) (result pairing.HitCost, err error) {
	f, unmount, err := tracefs.Mount()
	if unmount != nil {
		defer func() { err = errors.Join(err, unmount()) }()
	}
	if err != nil {
		return result, err
	}
	e.FS = f
	return own.Try(ctx, f, ownFunctions, e.Adjust(f.Features()))
}
