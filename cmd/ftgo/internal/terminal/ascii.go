package terminal

import (
	"io"
	"strings"
)

// ascii is what stands for the signs of tables where a terminal can't show them: each takes
// one column, as they do.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "≈", "~", "▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", "+", "▆", "+", "▇", "#", "█", "#",
	"▏", " ", "▎", " ", "▍", "-", "▌", "-", "▋", "-", "▊", "#", "▉", "#")

// asciiWriter writes in ASCII the signs that ftgo uses, and all else as it is. A sign must not be
// split between two writes.
type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(b []byte) (int, error) {
	if _, err := ascii.WriteString(a.w, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
