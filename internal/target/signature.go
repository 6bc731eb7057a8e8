package target

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/symname"
)

// funcArg is a parsed FUNC: single instructions, or a pattern of functions, possibly with the signature of these functions or
// with the values to show.
type funcArg struct {
	text    string
	pattern symname.Pattern
	// listed: parentheses follow the pattern. Then params are the values to show or, if hasSignature is true, params and
	// results are the whole signature. The first parameter of a method is its receiver.
	listed, hasSignature bool
	params, results      []selection
	noResults            bool // results are not shown

	// FUNC is an instruction if one of these is not "": number is the offset in function, or the line in file.
	function, file string
	number         uint64
}

// parseFunc parses a FUNC. Parameters and results may follow a pattern of functions in parentheses:
//
//	main.get                              nothing follows
//	main.(*T).Get(key, req.URL.Path)      these parameters, or parts of them
//	main.get(goarg1, key=goarg2:string)   these registers, of type int if none is given
//	main.get(key) (n, err)                this parameter and these results
//	main.get(key) (_, err)                this parameter, and of the results only the error
//	main.get(key) -                       this parameter and no results
//	main.get(v=goret1:int)                this register when the call ends
//	main.get(k=+0(%ax):x64)               the value of a fetcharg
//	main.(*T).Get(t ptr, n int) (v string, err error)
//
// If a type follows the name of a parameter, the FUNC argument is a signature. The last example is a signature as in a
// source file, except that the receiver is the first parameter. Parameters without a name are named p0, p1 …, and results
// r0, r1 ….
//
// If signatures is false, parseFunc returns an error if the FUNC lists parameters.
func parseFunc(text string, regexp, signatures bool) (a funcArg, err error) {
	a.text = text
	pattern := text
	if !regexp {
		if err := a.readInstruction(); err != nil {
			return a, usagef("parse %q: %w", text, err)
		}
		if a.isInstruction() {
			return a, nil
		}
		at, end, err := argumentList(text)
		if err == nil && at >= 0 {
			a.listed, pattern = true, strings.TrimRight(text[:at], " \t")
			err = a.readLists(text[at+1:end-1], strings.TrimSpace(text[end:]))
		}
		switch {
		case err != nil && signatures:
			return a, usagef("parse function %q: %w", text, err)
		case err != nil:
			a, pattern = funcArg{text: text}, text
		case a.listed && !signatures:
			return a, usagef("%q: only trace shows values", text)
		}
	}
	a.pattern, err = compile(pattern, regexp)
	return a, err
}

// argumentList finds the parentheses after the name of a function: text[at:end]. Without such parentheses, at is -1.
// Parentheses after a dot belong to a receiver.
func argumentList(text string) (at, end int, err error) {
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("([{", text[i]) < 0 {
			continue
		}
		end := printable.Closing(text, i)
		receiver := i == 0 || text[i-1] == '.'
		switch {
		case end < 0 && (text[i] != '(' || receiver || strings.IndexByte("*?", text[i-1]) >= 0):
			return -1, -1, nil // a pattern may contain these characters
		case end < 0:
			return -1, -1, errors.New("( without )")
		case text[i] == '(' && !receiver && (end == len(text) || strings.IndexByte(" \t(", text[end]) >= 0):
			return i, end, nil
		}
		i = end - 1
	}
	return -1, -1, nil
}

// readLists parses a list of parameters, without parentheses, and a list of results, with or without parentheses.
func (a *funcArg) readLists(params, results string) (err error) {
	items, err := list(params)
	if err != nil {
		return err
	}
	for _, item := range items {
		if name, _, _ := cutType(item); name != item && !strings.Contains(item, "=") && !isPath(item) {
			a.hasSignature = true
		}
	}
	if strings.HasPrefix(results, "(") && printable.Closing(results, 0) == len(results) {
		results = results[1 : len(results)-1]
	}
	if a.noResults = results == "-"; a.noResults {
		results = ""
	}
	ends, err := list(results)
	if err != nil {
		return err
	}
	all := slices.Concat(items, ends)
	var selections []selection // without "_", as in Go
	for _, item := range all {
		s, failed := parseSelection(item)
		if err = cmp.Or(err, failed); item != "_" {
			selections = append(selections, s)
		}
	}
	switch {
	case !a.hasSignature && (len(ends) == 0 || err == nil && areNames(all)):
		a.params = selections
		return cmp.Or(err, checkUnique(selections))
	case a.noResults:
		return errors.New("- leaves out results where parameters are names, without types")
	}
	a.hasSignature = true
	if a.params, err = variables(items, "p"); err != nil {
		return err
	}
	a.results, err = variables(ends, "r")
	return err
}

// mayBeType matches an item that is the path of a value, but may also be the name of a type.
var mayBeType = regexp.MustCompile(`^(\*.*|[^.\[]+\.[^.\[]+)$`)

// areNames reports whether no item is a predeclared type, and at least one can't be a type.
func areNames(items []string) bool {
	isBasic := func(item string) bool {
		_, ok := gotype.Basic(item)
		return ok || item == "ptr"
	}
	isName := func(item string) bool { return !mayBeType.MatchString(item) }
	return !slices.ContainsFunc(items, isBasic) && slices.ContainsFunc(items, isName)
}

// list splits text at the commas that are outside of brackets.
func list(text string) (items []string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for _, item := range printable.SplitOutside(text) {
		if item = strings.TrimSpace(item); item == "" {
			return nil, fmt.Errorf("nothing between commas in %q", text)
		}
		items = append(items, item)
	}
	return items, nil
}

// cutType splits "name type" at the first blank. A type without a name may also contain blanks, like "chan int". named is
// true if the text before the blank is an identifier.
func cutType(item string) (name, typ string, named bool) {
	name, typ = item, ""
	if i := strings.IndexAny(item, " \t"); i >= 0 {
		name, typ = item[:i], strings.TrimSpace(item[i:])
	}
	return name, typ, typ != "" && token.IsIdentifier(name)
}

// variables parses parameters or results. Either all items have names, or none. "a, b int" is short for "a int, b int".
func variables(items []string, unnamed string) ([]selection, error) {
	named := slices.ContainsFunc(items, func(item string) bool {
		_, _, ok := cutType(item)
		return ok
	})
	out := make([]selection, len(items))
	typ := ""
	for i, item := range slices.Backward(items) {
		v := selection{Name: "_", Type: item}
		if named {
			name, t, _ := cutType(item)
			typ = cmp.Or(t, typ)
			switch v = (selection{Name: name, Type: typ}); {
			case typ == "":
				return nil, fmt.Errorf("%q has no type", item)
			case !token.IsIdentifier(name):
				return nil, fmt.Errorf("%q is not a name and a type", item)
			}
		}
		if v.Name == "_" {
			v.Name = unnamed + strconv.Itoa(i)
		}
		out[i] = v
	}
	return out, checkUnique(out)
}
