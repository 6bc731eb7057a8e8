package main

import (
	"fmt"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/target"
)

// verdict is how a run ends in which nothing has failed: with the first of what else speaks
// against it, at last with PROGRAM's own status.
func (o *options) verdict(lost uint64, t *target.Target, written bool, p *program) error {
	if err := o.checkLost(lost); err != nil {
		return err
	}
	if written {
		return t.WrittenTo()
	}
	if p != nil {
		return p.status()
	}
	return nil
}

// checkLost is --max-lost.
func (o *options) checkLost(lost uint64) error {
	if !o.limited || lost <= o.maxLost {
		return nil
	}
	return cli.WithStatus(cli.ExitLost, fmt.Errorf("%d events lost (--max-lost %d)", lost, o.maxLost))
}
