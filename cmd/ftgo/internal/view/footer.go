package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
)

// footer says how far the numbers can be trusted: with --quiet only if not all the way.
func footer(e *cli.Env, rows []stats.Row, summary stats.Summary) error {
	if e.Quiet && summary.Lost == 0 && summary.Unparsed == 0 {
		return nil
	}
	return render.Footer(e.Stderr, rows, summary)
}
