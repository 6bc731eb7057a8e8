package scripts

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelPicture draws README's picture and checks that it is XML with a line for each line of output, in the picture of
// the repository, too.
func TestKernelPicture(t *testing.T) {
	tracetest.LongKernel(t)
	file := filepath.Join(t.TempDir(), "terminal.svg")
	if out, err := exec.Command("./picture", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{file, filepath.Join(fixture.Root(), "docs", "img", "terminal.svg")} {
		var picture struct {
			Text []string `xml:"g>text"`
		}
		data, err := os.ReadFile(file)
		fixture.NoError(t, err)
		fixture.NoError(t, xml.Unmarshal(data, &picture))
		text := strings.Join(picture.Text, "\n")
		for _, want := range []string{"# ftgo count ", "\nmain.lookup   1009", "\nhttp.(*Client).do ", "*errors.errorString(\"no such key\")"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", file, want, text)
			}
		}
	}
}
