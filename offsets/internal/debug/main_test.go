package debug

import (
	"os"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

func openPath(t testing.TB, path string) *image.Image {
	t.Helper()
	f, err := os.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	m, err := image.Open(f, path)
	fixture.NoError(t, err)
	return m
}
