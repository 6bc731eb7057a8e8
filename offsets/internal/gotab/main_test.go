package gotab

import (
	"os"
	"testing"

	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

func openPath(t testing.TB, path string) *Tables {
	t.Helper()
	f, err := os.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	g, err := openFile(f)
	fixture.NoError(t, err)
	return g
}

func openFile(f *os.File) (*Tables, error) {
	m, err := image.Open(f, f.Name())
	if err != nil {
		return nil, err
	}
	return Open(m)
}
