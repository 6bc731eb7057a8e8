package offsets

import (
	"errors"
	"fmt"
	"go/token"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/brackets"
)

// Given is what a user says of the parameters and results of functions, where debug
// information is missing or too much.
type Given struct {
	// Function is a pattern.
	Function string
	// HasSignature: params and results are all that there are, the receiver first.
	HasSignature    bool
	params, results []givenVariable
	// Select is what to show, if HasSignature is not set. There may be nothing.
	Select []Selection
}

// givenVariable is a parameter or a result, with its type as in a source file.
type givenVariable struct {
	Name, Type string
}

// Selection is one value to show: a part of a variable, a register, or anything else that
// the kernel can fetch.
type Selection struct {
	// Name is what to call it: the path, or what stands before "=".
	Name string
	// Path leads to a variable or a part of it: "n", "req.URL.Path", "s.items[0].name",
	// "*p".
	Path string
	// argument is N of goargN, the integer register that holds the value when a call
	// begins, or the first of several; Result that of goretN, when it ends. They count
	// from 1.
	argument, Result int
	// Fetch is a fetcharg of the kernel: "+0(%ax)".
	Fetch string
	// Type is that of an Argument or Result, as in a source file, or of Fetch: "x64".
	Type string
}

// ParseGiven reads a function with what is known of its parameters. Without parentheses
// behind a whole name it is a plain pattern, and not ok.
//
//	main.get                              not ok
//	main.(*T).Get(key, req.URL.Path)      these parameters, or parts of them
//	main.get(goarg1, key=goarg2:string)   these registers, of type int if none is given
//	main.get(v=goret1:int)                when the call ends
//	main.get(k=+0(%ax):x64)               what a fetcharg of the kernel fetches
//	main.(*T).Get(t ptr, n int) (v string, err error)
//
// The last is a signature as in a source file, but for the receiver, which is the first
// parameter. Results without a name are r0, r1 …, parameters p0, p1 ….
func ParseGiven(text string) (g Given, ok bool, err error) {
	at, end, err := argumentList(text)
	if err == nil && at < 0 {
		return Given{}, false, nil
	}
	if err == nil {
		g.Function = strings.TrimRight(text[:at], " \t")
		err = g.read(text[at+1:end-1], strings.TrimSpace(text[end:]))
	}
	if err != nil {
		return Given{}, false, fmt.Errorf("parse function %q: %w", text, err)
	}
	return g, true, nil
}

// argumentList finds the parentheses behind the name of a function; at is -1 if there are
// none. Those of a receiver follow a dot.
func argumentList(text string) (at, end int, err error) {
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("([{", text[i]) < 0 {
			continue
		}
		end := brackets.End(text, i)
		receiver := i == 0 || text[i-1] == '.'
		switch {
		case end < 0 && (text[i] != '(' || receiver || strings.IndexByte("*?", text[i-1]) >= 0):
			return -1, -1, nil // a pattern may have all of these
		case end < 0:
			return -1, -1, errors.New("( without )")
		case text[i] == '(' && !receiver && (end == len(text) || strings.IndexByte(" \t(", text[end]) >= 0):
			return i, end, nil
		}
		i = end - 1
	}
	return -1, -1, nil
}

// read takes the lists apart, which are without their parentheses but for the results'.
func (g *Given) read(params, results string) (err error) {
	items, err := list(params)
	if err != nil {
		return err
	}
	for _, item := range items {
		if name, _, _ := cutType(item); name != item && !strings.Contains(item, "=") {
			g.HasSignature = true
		}
	}
	if !g.HasSignature && results == "" {
		return g.readSelection(items)
	}
	g.HasSignature = true
	if g.params, err = variables(items, "p"); err != nil {
		return err
	}
	if strings.HasPrefix(results, "(") && brackets.End(results, 0) == len(results) {
		results = results[1 : len(results)-1]
	}
	if items, err = list(results); err != nil {
		return err
	}
	g.results, err = variables(items, "r")
	return err
}

// list splits at commas.
func list(text string) (items []string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for rest := text; ; rest = rest[1:] {
		var item string
		item, rest = brackets.Cut(rest, ",")
		if item = strings.TrimSpace(item); item == "" {
			return nil, fmt.Errorf("nothing between commas in %q", text)
		}
		items = append(items, item)
		if rest == "" {
			return items, nil
		}
	}
}

// cutType cuts "name type". An item without a name is a type that may have blanks, too:
// "chan int".
func cutType(item string) (name, typ string, named bool) {
	name, typ = item, ""
	if i := strings.IndexAny(item, " \t"); i >= 0 {
		name, typ = item[:i], strings.TrimSpace(item[i:])
	}
	return name, typ, typ != "" && token.IsIdentifier(name)
}

// variables reads parameters or results: all have names, or none, and "a, b int" is short
// for "a int, b int".
func variables(items []string, unnamed string) ([]givenVariable, error) {
	named := false
	for _, item := range items {
		_, _, ok := cutType(item)
		named = named || ok
	}
	out := make([]givenVariable, len(items))
	seen := make(map[string]bool)
	typ := ""
	for i := len(items) - 1; i >= 0; i-- {
		v := givenVariable{Name: "_", Type: items[i]}
		if named {
			name, t, _ := cutType(items[i])
			if t != "" {
				typ = t
			}
			switch v = (givenVariable{name, typ}); {
			case typ == "":
				return nil, fmt.Errorf("%q has no type", items[i])
			case !token.IsIdentifier(name):
				return nil, fmt.Errorf("%q is not a name and a type", items[i])
			}
		}
		if v.Name == "_" {
			v.Name = unnamed + strconv.Itoa(i)
		}
		if seen[v.Name] {
			return nil, fmt.Errorf("two are called %q", v.Name)
		}
		seen[v.Name] = true
		out[i] = v
	}
	return out, nil
}
