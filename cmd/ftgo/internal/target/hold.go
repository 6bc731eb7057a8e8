package main

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets"
)

// holdBinary keeps others from writing to what is going to be probed.
func holdBinary(b *offsets.Binary, o *options) error {
	err := b.Hold()
	switch {
	case !errors.Is(err, offsets.ErrBeingWritten):
		return err
	case o.force:
		return nil
	}
	return fmt.Errorf("%w (--force goes on)", err)
}

// writtenTo is why a run has ended.
func writtenTo(b *offsets.Binary) error {
	return fmt.Errorf("%s: somebody writes to it: the probes were removed, which would be in wrong places", b.Path())
}
