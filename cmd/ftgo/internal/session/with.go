package session

import (
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

// kernelEvents looks up what --with names.
func (x *Extras) kernelEvents(fsys *tracefs.FS) ([]string, error) {
	if len(x.With) == 0 {
		return nil, nil
	}
	names, err := fsys.KernelEvents(x.With)
	if err != nil && !errors.Is(err, tracefs.ErrNotSupported) && !cli.KernelRefused(err) {
		return nil, cli.WithStatus(cli.ExitUsage, err)
	}
	return names, err
}
