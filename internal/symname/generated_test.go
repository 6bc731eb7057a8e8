package symname

import "testing"

func TestGeneratedAndNesting(t *testing.T) {
	for symbol, want := range map[string]struct {
		generated bool
		nesting   int
	}{
		"main.f": {false, 0}, "main.(*T).M": {false, 0}, "main.f.func1": {false, 1}, "main.f.func1.2": {false, 2}, "main.(*T).M.func2.1.3": {false, 3},
		"main.f.g.func1": {false, 1}, "main.init.0": {false, 0}, "main.init.1.func2": {false, 1}, "main.init.func1": {false, 1}, "main.glob..func1": {false, 1},
		"main.Map[go.shape.int].func1": {false, 1}, "main.f-range1.func2": {false, 1}, "main.T.init": {false, 0},
		"main.init": {true, 0}, "main.map.init.0": {true, 1}, "main.f.gowrap1": {true, 1}, "main.f.func1.deferwrap2": {true, 2}, "main.f-range1": {true, 0},
		"main.T.M-fm": {true, 0}, "main.f·dwrap·1": {true, 2}, "type:.eq.main.T": {true, 0}, "go:struct { main.T }.M": {true, 0},
	} {
		n := Split(symbol)
		if n.Generated() != want.generated || !want.generated && n.Nesting() != want.nesting {
			t.Errorf("%s: generated %v, nesting %d, want %v", symbol, n.Generated(), n.Nesting(), want)
		}
	}
}
