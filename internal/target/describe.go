package target

import (
	"os"
	"syscall"

	"github.com/ftgo/ftgo/offsets"
)

// describe has the file of symbols describe the binary, which is closed if that can't be. Without one, it is
// what is found of a file that has no debug information.
func (q *Query) describe(say Say, b *offsets.Binary) error {
	if q.Symbols == "" {
		(&Search{Say: say, Loading: q.Loading}).Describe(b)
		return nil
	}
	f, err := os.OpenFile(q.Symbols, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no named pipe keeps us waiting
	if err == nil {
		err = b.Describe(f, q.Symbols)
	}
	if err != nil {
		b.Close()
	}
	return err
}
