package cli

import "strings"

// Join puts an = before values that may be left out, because pflag looks for them
// nowhere else: of -s 3 it would leave 3 to be a FUNC, and of -s3 a flag. It also makes
// one word of values that are two.
func (fs *Flags) Join(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		word, last := fs.joinShorthand(args[i])
		name, value, whole := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") {
			last = fs.Lookup(name)
		}
		switch next := i + 1; {
		case last == nil || next == len(args):
		case whole:
			if more(last, value, args[next:]) {
				i, word = next, word+"\x00"+args[next]
			}
		case last.NoOptDefVal == "": // it takes any word
			out = append(out, word)
			i, word = next, args[next]
			if more(last, word, args[next+1:]) {
				i, word = next+1, word+"\x00"+args[next+1]
			}
		case takes(last, args[next]):
			i, word = next, word+"="+args[next]
		}
		out = append(out, word)
	}
	return out
}

// joinShorthand does so for a value that is in one word with its flag. last is the flag
// whose value may be the next word, nil if there is none.
func (fs *Flags) joinShorthand(word string) (joined string, last *Flag) {
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
		case takes(f, rest):
			return word[:i+1] + "=" + rest, nil
		}
	}
	return word, nil
}

// more tells whether a flag's value goes on with the first of the words behind it.
func more(f *Flag, value string, behind []string) bool {
	v, ok := f.Value.(interface{ more(string) bool })
	return ok && len(behind) > 0 && behind[0] != "--" && v.more(value)
}
