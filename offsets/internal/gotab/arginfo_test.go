package gotab

import (
	"fmt"
	"strings"
	"testing"
)

// argsText writes arguments as tracebacks do, words as their offset and size.
func argsText(args []Arg, cut bool) string {
	var parts []string
	for _, a := range args {
		switch {
		case a.Aggregate:
			parts = append(parts, "{"+argsText(a.Parts, a.Cut)+"}")
		case a.Offset < 0:
			parts = append(parts, "_")
		default:
			parts = append(parts, fmt.Sprintf("%d:%d", a.Offset, a.Size))
		}
	}
	if cut {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// TestReadArgs: the list of a function's arguments is read as runtime.printArgs reads it.
func TestReadArgs(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"\xff", ""},
		{"\x00\x08\x08\x01\xff", "0:8, 8:1"},
		{"\xfe\x00\x08\x08\x08\xfd\x10\x04\xff behind", "{0:8, 8:8}, 16:4"},
		{"\xfe\xfd\x00\x08\xff", "{}, 0:8"},
		{"\xfb\xfe\xfb\xfb\xfd\xff", "_, {_, _}"},
		{"\xfe\xfe\xfe\xfe\xfe\xfc\xfd\xfd\xfd\xfd\xfd\xff", "{{{{{...}}}}}"},
		{"\xfe\x00\x08\xfc\xfd\xfc\xff", "{0:8, ...}, ..."},
		{"\x00\x08\x08\x08\x10\x08\x18\x08\x20\x08\x28\x08\x30\x08\x38\x08\x40\x08\x48\x08\xfc\xff", "0:8, 8:8, 16:8, 24:8, 32:8, 40:8, 48:8, 56:8, 64:8, 72:8, ..."},

		{"", "none"},
		{"\x00", "none"},
		{"\x00\x00\xff", "none"},
		{"\x00\x08", "none"},
		{"\xfe\x00\x08\xff", "none"},
		{"\xfd\xff", "none"},
		{"\xfc\x00\x08\xff", "none"},
		{strings.Repeat("\xfe", 6) + strings.Repeat("\xfd", 6) + "\xff", "none"},
		{strings.Repeat("\x00\x08", 11) + "\xff", "none"},
	} {
		got := "none"
		if args, complete, ok := readArgs([]byte(test.code)); ok {
			got = argsText(args, !complete)
		}
		if got != test.want {
			t.Errorf("%x is read as %s, want %s", test.code, got, test.want)
		}
	}
}

// FuzzReadArgs: no list has more words, or nests deeper, than the compiler writes.
func FuzzReadArgs(f *testing.F) {
	f.Add([]byte("\xfe\x00\x08\xfc\xfd\xfc\xff"))
	f.Fuzz(func(t *testing.T, code []byte) {
		args, _, ok := readArgs(code)
		if text := argsText(args, false); ok && (strings.Count(text, ":")+strings.Count(text, "_") > maxArgWords || strings.Contains(text, strings.Repeat("{", maxArgNesting+1))) {
			t.Errorf("%x is read as %s", code, text)
		}
	})
}
