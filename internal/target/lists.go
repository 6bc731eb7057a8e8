package target

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// maxList is how long a list of functions may be, in bytes: there are 60 for each function of the largest programs.
const maxList = 16 << 20

// ReadLists replaces each @FILE among the FUNC arguments by those in the file, one a line. Lines that begin with # are
// comments, and so is what follows a # behind a space.
func (q *Query) ReadLists() error {
	if !slices.ContainsFunc(q.Funcs, isList) {
		return nil
	}
	q.lists = make(map[string]string)
	var all []string
	for _, text := range q.Funcs {
		if !isList(text) {
			all = append(all, text)
			continue
		}
		funcs, err := q.readList(text[1:])
		if err != nil {
			return err
		}
		all = append(all, funcs...)
	}
	q.Funcs = all
	return nil
}

func isList(text string) bool { return strings.HasPrefix(text, "@") }

// readList reads a list, and notes which line each FUNC of it stands in.
func (q *Query) readList(name string) (funcs []string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, usagef("read list of functions: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList+1)) // of a device or a pipe nobody knows how much comes
	switch {
	case err != nil:
		return nil, usagef("read list of functions: %w", err)
	case len(data) > maxList:
		return nil, usagef("%s: over %d bytes are too many for a list of functions", name, maxList)
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		text, _, _ := strings.Cut(" "+strings.ReplaceAll(line, "\t", " "), " #")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		at := fmt.Sprintf("%s:%d", name, number)
		if isList(text) {
			return nil, usagef("%s: %q: a list names no other", at, text)
		}
		funcs = append(funcs, text)
		if q.lists[text] == "" {
			q.lists[text] = at
		}
	}
	if len(funcs) == 0 {
		return nil, usagef("%s: no FUNC in it", name)
	}
	return funcs, nil
}

// located says of an error which line of a list the FUNC that it is about stands in, if it is of one.
func (q *Query) located(text string, err error) error {
	if at := q.lists[text]; at != "" && err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return err
}
