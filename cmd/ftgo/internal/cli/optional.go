package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// optionalValue is the value of a flag that may go without one.
type optionalValue interface {
	// accepts tells whether a word behind the flag is meant for it.
	accepts(word string) bool
}

// joinValues puts an = before values that may be left out, because pflag looks for them
// nowhere else: of -s 3 it would leave 3 to be a FUNC, and of -s3 a flag.
func joinValues(fs *pflag.FlagSet, args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		word, last := joinShorthand(fs, args[i])
		if name, long := strings.CutPrefix(word, "--"); long {
			last = fs.Lookup(name)
		}
		switch next := i + 1; {
		case last == nil || next == len(args):
		case last.NoOptDefVal == "": // it takes any word
			out = append(out, word)
			i, word = next, args[next]
		case acceptedBy(last, args[next]):
			i, word = next, word+"="+args[next]
		}
		out = append(out, word)
	}
	return out
}

// joinShorthand does so for a value that is in one word with its flag. last is the flag
// whose value may be the next word, nil if there is none.
func joinShorthand(fs *pflag.FlagSet, word string) (joined string, last *pflag.Flag) {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return word, nil
	}
	for i := 1; i < len(word); i++ {
		f, rest := fs.ShorthandLookup(word[i:i+1]), word[i+1:]
		switch {
		case rest == "":
			return word, f
		case f == nil || f.NoOptDefVal == "" || rest[0] == '=':
			return word, nil
		case acceptedBy(f, rest):
			return word[:i+1] + "=" + rest, nil
		}
	}
	return word, nil
}

func acceptedBy(f *pflag.Flag, word string) bool {
	v, ok := f.Value.(optionalValue)
	return ok && v.accepts(word)
}
