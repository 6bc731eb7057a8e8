// Package binaries opens binaries for tests. Package fixture can't, because tests inside of package offsets import that.
package binaries

import (
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// Open opens a binary until the test ends.
func Open(t testing.TB, path string) *offsets.Binary {
	t.Helper()
	b, err := offsets.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}
