package uprobe_test

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }
