package target

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxList is the largest size of a list of functions, in bytes. It is 60 bytes for each function of the largest programs.
const maxList = 16 << 20

// ReadLists replaces each @FILE among the FUNC arguments by the lines of the file. A # at the beginning of a line or after
// white space begins a comment.
func (q *Query) ReadLists() error {
	var all []string
	lists := make(map[string]string)
	for _, text := range q.Funcs {
		name, isList := strings.CutPrefix(text, "@")
		if !isList {
			all = append(all, text)
			continue
		}
		funcs, err := readList(name, lists)
		if err != nil {
			return err
		}
		all = append(all, funcs...)
	}
	if len(lists) > 0 {
		q.Funcs, q.lists = all, lists
	}
	return nil
}

// readList reads a list, and stores the line of each FUNC in lines.
func readList(name string, lines map[string]string) (funcs []string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, usagef("read list of functions: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList+1)) // a device or a pipe may never end
	switch {
	case err != nil:
		return nil, usagef("read list of functions: %w", err)
	case len(data) > maxList:
		return nil, usagef("%s: over %d bytes are too many for a list of functions", name, maxList)
	}
	for i, line := range strings.Split(string(data), "\n") {
		text, _, _ := strings.Cut(" "+strings.ReplaceAll(line, "\t", " "), " #")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		at := fmt.Sprintf("%s:%d", name, i+1)
		if strings.HasPrefix(text, "@") {
			return nil, usagef("%s: %q: a list names no other", at, text)
		}
		funcs = append(funcs, text)
		lines[text] = cmp.Or(lines[text], at)
	}
	if len(funcs) == 0 {
		return nil, usagef("%s: no FUNC in it", name)
	}
	return funcs, nil
}

// located returns an error about a FUNC. If the FUNC is from a list, the error also contains the file and line.
func (q *Query) located(text string, err error) error {
	if at := q.lists[text]; at != "" && err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return err
}
