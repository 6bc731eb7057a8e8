// Package terminal knows what is written to people.
package terminal

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/printable"
)

// Is tells whether people read what is written there.
func Is(w io.Writer) bool {
	width, _ := Size(w)
	return width > 0
}

// Legible makes what is written to w legible, if that is a terminal without UTF-8.
func Legible(w io.Writer) io.Writer {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	if !Is(w) || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8") {
		return w
	}
	return asciiWriter{w}
}

// File is what a program may be given to write to what w is: a file, where it is one.
func File(w io.Writer) io.Writer {
	if a, ok := w.(asciiWriter); ok {
		return a.w
	}
	return w
}

// Size is 0, 0 for what is no terminal.
func Size(w io.Writer) (width, height int) {
	f, ok := File(w).(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// ascii is what stands for the signs of tables where a terminal can't show them: each takes
// one column, as they do.
var ascii = strings.NewReplacer("µ", "u", "…", "~", "≤", "<", "≥", ">", "≈", "~",
	"▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", "+", "▆", "+", "▇", "#", "█", "#",
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

// Screen redraws a block of lines in place on a terminal: each Draw takes the
// place of the one before. Nothing else may write to the terminal in between.
type Screen struct {
	w             io.Writer
	lines         int
	width, height int // of the terminal when it was drawn on
	// Plain leaves out colours: https://no-color.org.
	Plain bool
}

// NewScreen returns a Screen on a terminal that understands the control sequences
// of ECMA-48 (all in use since the VT100).
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Draw shows text, which may hold no control characters but newlines, its first line in
// bold, and below it the status, if that is not "". Lines are cut to width columns, and the
// block to height-1 lines, the bottom line being the cursor's: what has scrolled off or
// wrapped can't be drawn over. 0 means no limit. Where the terminal's size has changed, the block is at its
// top from then on.
func (s *Screen) Draw(text, status string, width, height int) error {
	lines := slices.Collect(strings.Lines(text))
	last, room := -1, len(lines)+1
	if height > 0 {
		room = height - 1
	}
	if status != "" && room > 0 {
		last = min(len(lines), room-1)
		lines = append(lines[:last], status)
	}
	lines = lines[:min(len(lines), room)]
	// One write, and each line erased right before it is drawn: no flicker.
	var b bytes.Buffer
	switch {
	case s.lines > 0 && (width != s.width || height != s.height):
		b.WriteString("\x1b[H") // CUP: nobody knows where the terminal has moved the lines to
	case s.lines > 0:
		fmt.Fprintf(&b, "\x1b[%dA\r", s.lines) // CUU: to the first line
	}
	s.width, s.height = width, height
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		if width > 0 {
			line = printable.Cut(line, width)
		}
		if !s.Plain && (i == 0 || i == last) {
			line = map[bool]string{true: "\x1b[2m", false: "\x1b[1m"}[i == last] + line + "\x1b[m" // SGR
		}
		// EL before the text: after a line as wide as the terminal, the cursor is
		// still on its last column, which EL would erase.
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[J") // ED: what a taller block before left below
	s.lines = len(lines)
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("draw screen: %w", err)
	}
	return nil
}

// Keys without a letter, as what terminals send for them is told.
const (
	Home, End        = 0x01, 0x05
	PageUp, PageDown = 0x02, 0x06
	Up, Down         = 0x10, 0x0e
	Backspace, Erase = 0x08, 0x7f
	Escape           = 0x1b
)

// sequence is what a terminal sends for such a key (ECMA-48, and VT220's for keys of an editor).
var sequence = regexp.MustCompile(`\x1b(\[[0-9;]*[A-Za-z~]|O[A-Za-z])`)

var sequences = map[string]byte{
	"A": Up, "B": Down, "H": Home, "F": End, "1~": Home, "4~": End, "7~": Home, "8~": End, "5~": PageUp, "6~": PageDown,
}

// single makes a byte of each key; those that nobody knows are left out.
func single(typed string) string {
	return sequence.ReplaceAllStringFunc(typed, func(s string) string {
		if key, ok := sequences[s[2:]]; ok {
			return string(rune(key))
		}
		return ""
	})
}

// Keys are those typed on a terminal, one by one and unseen, until Restore is called.
type Keys struct {
	Typed   chan byte
	Restore func()
}

// ReadKeys takes over the terminal that f is; nil if it is none, or not in the foreground,
// where asking it would stop the process.
func ReadKeys(f *os.File) *Keys {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || int(int32(group)) != unix.Getpgrp() {
		return nil
	}
	now := *before
	// Ctrl-C and Ctrl-Z stay what they are.
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return nil
	}
	k := &Keys{Typed: make(chan byte, 16)}
	k.Restore = sync.OnceFunc(func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) })
	go func() { // for as long as the process lives: a read of a terminal can't be called off
		var b [64]byte // all that a key sends comes at once
		for {
			n, err := unix.Read(fd, b[:])
			if n < 1 && err != unix.EINTR {
				return
			}
			for _, key := range []byte(single(string(b[:max(n, 0)]))) {
				k.Typed <- key
			}
		}
	}()
	return k
}
