package offsets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// distinct leaves out what Go 1.18 describes twice.
func distinct(formals []debug.Formal) []debug.Formal {
	var kept []debug.Formal
	for _, v := range formals {
		if v.Name == "" || v.Name == "_" || !slices.ContainsFunc(kept, func(o debug.Formal) bool { return o.Name == v.Name }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// variableOf gives a formal parameter its name. Those of blank ones, "~p1", in wrappers
// ".anon1", of gccgo "p.1", and of results without a name, "~r1", are the compiler's.
func variableOf(v *debug.Formal, prefix string, number int) Variable {
	name := strings.TrimPrefix(v.Name, ".") // the receiver of wrappers: .this
	if name == "" || name == "_" || name == "UNNAMED" || name[0] == '~' || strings.HasPrefix(v.Name, ".anon") || strings.Contains(name, ".") || strings.HasPrefix(name, "$ret") {
		name = fmt.Sprintf("%s%d", prefix, number)
	}
	return Variable{Name: name, Type: v.Type}
}

// isWhole tells values that are of one part, or have an array of several elements.
func isWhole(t *gotype.Type) bool {
	parts, single, err := flatten(t)
	return err == nil && (len(parts) == 1 || !single)
}
