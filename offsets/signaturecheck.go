package offsets

import (
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// check is the outcome of a comparison with the function table.
type check uint8

const (
	unchecked check = iota // the function table does not have enough information
	agree
	differ
)

// layOutChecked lays out the variables by their types and compares the parameters with the function table.
func (l *goLayout) layOutChecked() check {
	end := l.layOutByTypes()
	switch {
	case l.f.ABI == ABI0:
		return l.compareSize(end - 8)
	case l.binary.dictionary(l.f) >= 0:
		// The table omits the first parameter of generic functions, which is the dictionary or the receiver.
		return unchecked
	}
	return l.compare()
}

// compareSize compares the size in bytes of parameters and results on the stack with the function table.
func (l *goLayout) compareSize(size int64) check {
	switch n, ok := l.argsSize(); {
	case !ok:
		return unchecked
	case arch.AlignUp(n, 8) == arch.AlignUp(size, 8): // the compiler rounds up, assembly need not
		return agree
	}
	return differ
}

// compare compares the number and sizes of the parameters with the function table.
func (l *goLayout) compare() check {
	params := l.sig.Params
	args, complete, ok := l.binary.tables.Args(l.f.Addr)
	if !ok || len(args) == 0 {
		return unchecked
	}
	for i, arg := range args {
		if i >= len(params) {
			return differ
		}
		if t := params[i].Type; arg.Aggregate != aggregate(t) || arg.Size != 0 && arg.Size != t.Size {
			return differ
		}
	}
	switch {
	case complete && len(args) == len(params):
		return agree
	case complete:
		return differ
	}
	return unchecked
}

// aggregate reports whether tracebacks print values of the type in braces.
func aggregate(t *gotype.Type) bool {
	braced := []reflect.Kind{reflect.Struct, reflect.Array, reflect.Complex128, reflect.Interface, reflect.String, reflect.Slice}
	return slices.Contains(braced, t.Kind)
}
