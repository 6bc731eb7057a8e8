package render

import (
	"io"
	"strings"
)

// ascii is what stands for the signs of tables where a terminal can't show them: each takes
// one column, as they do.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", "+", "▆", "+", "▇", "#", "█", "#",
	"▏", " ", "▎", " ", "▍", "-", "▌", "-", "▋", "-", "▊", "#", "▉", "#")

// ASCII returns a writer for terminals of a locale without UTF-8: it writes to w, in ASCII,
// the signs that this package uses, and all else as it is. A sign must not be split between
// two writes.
func ASCII(w io.Writer) io.Writer { return asciiWriter{w} }

type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(b []byte) (int, error) {
	if _, err := ascii.WriteString(a.w, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
