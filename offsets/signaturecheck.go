package offsets

import (
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// layOutChecked lays out the variables by their types and compares the parameters with the function table. known is false if
// the table does not have enough information.
func (l *goLayout) layOutChecked() (agrees, known bool) {
	end := l.layOutByTypes()
	switch {
	case l.f.ABI == ABI0:
		return l.compareSize(end - 8)
	case l.binary.dictionary(l.f) >= 0:
		// The table omits the first parameter of generic functions, which is the dictionary or the receiver.
		return false, false
	}
	return l.compare()
}

// compareSize compares the size in bytes of parameters and results on the stack with the function table.
func (l *goLayout) compareSize(size int64) (agrees, known bool) {
	n, known := l.argsSize()
	return known && arch.AlignUp(n, 8) == arch.AlignUp(size, 8), known // the compiler rounds up, assembly need not
}

// compare compares the number and sizes of the parameters with the function table.
func (l *goLayout) compare() (agrees, known bool) {
	params := l.sig.Params
	args, complete, ok := l.binary.tables.Args(l.f.Addr)
	if !ok || len(args) == 0 {
		return false, false
	}
	for i, arg := range args {
		if i >= len(params) {
			return false, true
		}
		if t := params[i].Type; arg.Aggregate != aggregate(t) || arg.Size != 0 && arg.Size != t.Size {
			return false, true
		}
	}
	return complete && len(args) == len(params), complete
}

// aggregate reports whether tracebacks print values of the type in braces.
func aggregate(t *gotype.Type) bool {
	braced := []reflect.Kind{reflect.Struct, reflect.Array, reflect.Complex128, reflect.Interface, reflect.String, reflect.Slice}
	return slices.Contains(braced, t.Kind)
}
