package gotab

import (
	"debug/buildinfo"
	"fmt"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Version is a release of Go, "1.26.8"; development versions have only Text.
type Version struct {
	// Text is what the binary says: "go1.26.8", "go1.24.0 X:nocoverageredesign",
	// "devel go1.27-abcdef".
	Text string
	// Minor is the 26 of 1.26; 0 if this is not Go.
	Minor int
	// Devel marks a version that is no release: tables by version don't hold.
	Devel bool
}

func (v Version) String() string { return v.Text }

// readVersion reads the build information that Go 1.13 and later put into every
// binary, and searches older ones for runtime.buildVersion. A file without any is not
// an error: it may not be Go, or gccgo's, whose functions are like those of C.
func readVersion(m *image.Image, t *table) (Version, error) {
	if info, err := buildinfo.Read(m.Reader()); err == nil {
		if strings.Contains(info.GoVersion, "gccgo") {
			return Version{}, nil
		}
		return ParseVersion(info.GoVersion)
	}
	if t == nil {
		return Version{}, nil
	}
	v, _ := buildVersion(m, t.form)
	return v, nil
}

// ParseVersion reads what a program says of its version.
func ParseVersion(text string) (Version, error) {
	v := Version{Text: text}
	rest := text
	if r, ok := strings.CutPrefix(rest, "devel "); ok {
		v.Devel, rest = true, r
	}
	rest, ok := strings.CutPrefix(rest, "go1.")
	if !ok {
		return v, fmt.Errorf("parse Go version %q: neither a release nor a development version", text)
	}
	end := 0
	for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil || n == 0 {
		return v, fmt.Errorf("parse Go version %q: no minor version", text)
	}
	v.Minor = n
	return v, nil
}
