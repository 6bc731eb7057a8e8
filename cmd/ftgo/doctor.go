package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
)

func doctorCommand(e *cli.Env) *cli.Command {
	out := &cli.Output{Formats: cli.RowFormats}
	return &cli.Command{
		Name: "doctor", Summary: "check whether probing works here, and measure its cost", Changes: true,
		Groups: []cli.Group{cli.Subset("", out.Define, "output")},
		Run: func(ctx context.Context) error {
			checks, cost, works := examine(ctx, e)
			err := writeChecks(e.Stdout, out.Format, checks, cost)
			if err == nil && !works {
				err = cli.WithStatus(cli.ExitKernel, errDoctor)
			}
			return err
		},
	}
}

// writeChecks writes a line for each finding. In a table, the fix is on the next line. If cost is not nil, it becomes
// the field ns of the check "cost" in JSON.
func writeChecks(w io.Writer, f render.Format, checks []doctor.Finding, cost any) error {
	if f != render.Table {
		return render.WriteRows(w, f, true, func(c doctor.Finding) render.Row {
			return render.Row{
				{"type", render.ColumnIf(f == render.JSON, "check")}, {"check", c.Check}, {"state", c.State}, {"text", c.Text},
				{"fix", render.Nonzero(c.Fix)}, {"ns", render.ColumnIf(f == render.JSON && c.Check == "cost", cost)},
			}
		}, checks...)
	}
	widest := 0
	for _, c := range checks {
		widest = max(widest, len(c.Check))
	}
	var text bytes.Buffer
	for _, c := range checks {
		fmt.Fprintf(&text, "%-7s  %-*s  %s\n", c.State, widest, c.Check, printable.Text(c.Text))
		if c.Fix != "" {
			fmt.Fprintf(&text, "%-7s  %-*s  $ %s\n", "", widest, "", printable.Text(c.Fix))
		}
	}
	if _, err := text.WriteTo(w); err != nil {
		return fmt.Errorf("write checks: %w", err)
	}
	return nil
}

// errDoctor is the error of failed checks. The checks have printed the reason.
var errDoctor = errors.New("probing does not work here")

// remedy returns the end of an error message about the kernel: the reason and the fix, if they are known.
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

// examine makes all checks, and then tries probes. ns contains the costs of hits in nanoseconds. It is nil if that trial
// failed.
func examine(ctx context.Context, e *cli.Env) (findings []doctor.Finding, ns any, works bool) {
	findings = doctor.Diagnose()
	_, isMissing := doctor.FirstMissing(findings)
	result, err := tryWhereItCan(ctx, e)
	works = err == nil
	for i := range findings {
		if f := &findings[i]; works && f.Check == "tracefs" && f.State == doctor.Missing {
			// The trial has mounted tracefs, as every other command would.
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
	case errors.Is(err, doctor.ErrNotTried) && !isMissing:
		works = true
		cost.State, cost.Text = doctor.Unknown, err.Error()
	case isMissing:
		cost.State, cost.Text = doctor.Unknown, "not tried, because a check failed"
	default:
		cost.State, cost.Text = doctor.Missing, err.Error()
	}
	findings = append(findings, cost)
	if works && ns != nil {
		findings = append(findings, doctor.Finding{Check: "budget", State: doctor.OK, Text: budgetText(result)})
	}
	return findings, ns, works
}

func budgetText(cost pairing.HitCost) string {
	calls := func(percent, cost float64) string {
		return printable.Compact(math.Floor(percent / 100 * 1e9 / max(cost, 1)))
	}
	var texts []string
	for _, percent := range []float64{1, 5, 25} {
		texts = append(texts, fmt.Sprintf("--budget %v: %s or %s", percent, calls(percent, cost.Emulated), calls(percent, cost.Emulated+cost.Stepped)))
	}
	return "of one CPU allows this many counted, or timed, calls a second: " + strings.Join(texts, "; ")
}

// tryWhereItCan tries probes. If tracefs is not mounted, it mounts tracefs until the end of the trial.
func tryWhereItCan(ctx context.Context, e *cli.Env) (result pairing.HitCost, err error) {
	f, unmount, err := tracefs.Mount()
	if unmount != nil {
		defer func() { err = errors.Join(err, unmount()) }()
	}
	if err != nil {
		return result, err
	}
	e.FS = f
	return doctor.Try(ctx, f, costFunctions, e.Adjust(f.Features()))
}
