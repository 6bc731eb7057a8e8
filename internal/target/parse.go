package target

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// open parses the arguments and opens the binary, which the caller closes.
func (q *Query) open(say Say) (*Target, error) {
	if err := q.ReadLists(); err != nil {
		q.Opened.Close() // may be nil
		return nil, err
	}
	mapped, err := q.findBinary()
	if err != nil {
		return nil, err
	}
	t, err := q.parse()
	if err != nil {
		mapped.Close() // may be nil
		return nil, err
	}
	if t.Binary, err = openFound(q.Binary, mapped, nil); err != nil {
		return nil, err
	}
	if err := t.load(say, q); err != nil {
		t.Binary.Close()
		return nil, err
	}
	return t, nil
}

// load reads symbols and debug information from other files. If OwnFuncs is set and no FUNC is given, it also sets the
// patterns.
func (t *Target) load(say Say, q *Query) error {
	if q.Symbols == "" {
		findDebugInfo(t.Binary, say, "/")
	} else {
		f, err := os.OpenFile(q.Symbols, os.O_RDONLY|syscall.O_NONBLOCK, 0) // returns at once for a named pipe
		if err == nil {
			err = t.Binary.Internals().Describe(f, q.Symbols)
		}
		if err != nil {
			return err
		}
	}
	if !t.Binary.Internals().KnownLayout() {
		_, version := t.Binary.GoVersion()
		say("%s: ftgo does not know the layout of types and inlined calls in %s: it does not show values in interfaces, "+
			"and, without debug information, neither other values nor functions that were inlined", q.Binary, version)
	}
	if !q.OwnFuncs || len(q.Funcs) > 0 {
		return nil
	}
	t.ownFuncs = true
	for _, text := range append(OwnFuncs(t.Binary), q.Beyond...) {
		p, err := compile(text, false)
		if err != nil {
			return err
		}
		t.include = append(t.include, funcArg{text: text, pattern: p})
	}
	return nil
}

// Check returns an error if a FUNC or a pattern is wrong whatever BINARY is. It does not open BINARY.
func (q *Query) Check() error {
	if err := q.ReadLists(); err != nil {
		return err
	}
	_, err := q.parse()
	return err
}

// parse parses FUNC... and the patterns of functions to leave out.
func (q *Query) parse() (*Target, error) {
	t := &Target{Roles: make(map[*offsets.Func]Role)}
	for _, text := range q.Funcs {
		a, err := parseFunc(text, q.Regexp, q.Signatures)
		if err != nil {
			return nil, q.located(text, err)
		}
		if a.isInstruction() {
			t.instructions = append(t.instructions, a)
		} else {
			t.include = append(t.include, a)
		}
	}
	if q.From != "" {
		var err error
		if t.Pair, err = q.parsePair(); err != nil {
			return nil, err
		}
	}
	for _, text := range q.Exclude {
		p, err := compile(text, q.Regexp)
		if err != nil {
			return nil, err
		}
		t.exclude = append(t.exclude, p)
	}
	return t, nil
}

func compile(text string, regexp bool) (symname.Pattern, error) {
	p, err := symname.Compile(text, regexp)
	if err != nil {
		err = usagef("%w", err)
	}
	return p, err
}

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
