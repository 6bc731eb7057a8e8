package printable

import (
	"strings"
)

const ellipsis = "…"

// Shorten makes a function name fit into width columns: first the import path goes
// (github.com/a/b/pkg.(*T).Method → …/pkg.(*T).Method), then the middle of what is
// left, which keeps the package and the end of the method.
func Shorten(name string, width int) string {
	if Columns(name) <= width {
		return name
	}
	// Slashes in brackets belong to type arguments, which may follow a short name.
	path, _, _ := strings.Cut(name, "[")
	if slash := strings.LastIndexByte(path, '/'); slash > 0 {
		name = ellipsis + name[slash:]
	}
	if Columns(name) <= width {
		return name
	}
	room := max(width-1, 0)
	return head(name, room-room/2) + ellipsis + tail(name, room/2)
}

// Cut makes text fit into width columns and marks that some is missing.
func Cut(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	return head(s, max(width-1, 0)) + ellipsis
}

// head returns the longest beginning of s within width columns.
func head(s string, width int) string {
	for i, r := range s {
		if width -= Columns(string(r)); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of s within width columns.
func tail(s string, width int) string {
	skip := Columns(s) - width
	for i, r := range s {
		if skip <= 0 {
			return s[i:]
		}
		skip -= Columns(string(r))
	}
	return ""
}
