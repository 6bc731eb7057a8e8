package main

import (
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// rootName is the variable that a path begins with.
func rootName(path string) string {
	name := strings.TrimLeft(path, "*")
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	return name
}

func hasVariable(vars []offsets.Variable, name string) bool {
	return slices.ContainsFunc(vars, func(v offsets.Variable) bool { return v.Name == name })
}

func isErrorType(t *gotype.Type) bool {
	return t != nil && capture.IsError(t)
}
