package session

import (
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// schedStatus gives a plan's refusal to follow goroutines its exit status.
func schedStatus(err error) error {
	if errors.Is(err, uprobe.ErrNoSched) {
		return cli.WithStatus(cli.ExitNothing, err)
	}
	return err
}
