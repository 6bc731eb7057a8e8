package main

import (
	"strings"

	"github.com/ftgo/ftgo/offsets"
)

// signatureText writes a function as trace takes it for FUNC:
// main.get(key string, n int) (string, error).
func signatureText(name string, s *offsets.Signature) string {
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte('(')
	b.WriteString(variablesText(s.Params))
	b.WriteByte(')')
	switch text := variablesText(s.Results); {
	case len(s.Results) == 0:
	case len(s.Results) == 1 && !strings.Contains(text, " "):
		b.WriteString(" " + text)
	default:
		b.WriteString(" (" + text + ")")
	}
	return b.String()
}

// variablesText leaves out the names that the source has not: r0, r1 ….
func variablesText(vars []offsets.Variable) string {
	unnamed := true
	for i, v := range vars {
		unnamed = unnamed && v.Name == "r"+string(rune('0'+i)) && i < 10
	}
	var parts []string
	for _, v := range vars {
		typ := "?"
		if v.Type != nil {
			typ = v.Type.Name
		}
		if !unnamed {
			typ = v.Name + " " + typ
		}
		parts = append(parts, typ)
	}
	return strings.Join(parts, ", ")
}
