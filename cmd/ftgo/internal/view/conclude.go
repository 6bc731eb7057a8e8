package view

import (
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
)

// number is how many calls rows have together, at least where nothing bounds them, and sampled tells whether that is an estimate.
func number(rows []stats.Func) (calls float64, sampled bool) {
	for _, r := range rows {
		if r.Whole == nil {
			calls += r.Number()
		} else {
			calls, sampled = calls+r.Whole.Least(), true
		}
	}
	return calls, sampled
}

// conclude says how far the numbers can be trusted: with --quiet only if not all the way, unless
// that is part of the data.
func conclude(e *cli.Env, f render.Format, out io.Writer, rows []stats.Func, s stats.Summary) error {
	switch _, sampled := number(rows); {
	case f == render.JSON:
		return render.SummaryJSON(out, s, nil)
	case e.Quiet && s.Lost == 0 && s.Unparsed == 0 && !sampled:
		return nil
	}
	return render.Footer(e.Stderr, rows, s)
}
