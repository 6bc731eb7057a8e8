package offsets

import (
	"debug/buildinfo"
	"fmt"
	"strconv"
	"strings"
)

// GoVersion is a release of Go, "1.26.8"; development versions have only Text.
type GoVersion struct {
	// Text is what the binary says: "go1.26.8", "go1.24.0 X:nocoverageredesign",
	// "devel go1.27-abcdef".
	Text string
	// Minor is the 26 of 1.26; 0 if this is not Go.
	Minor int
	// Devel marks a version that is no release: tables by version don't hold.
	Devel bool
}

func (v GoVersion) String() string { return v.Text }

// readGoVersion reads the build information that Go 1.13 and later put into every
// binary, and searches older ones for runtime.buildVersion. A file without any is not
// an error: it may not be Go, or gccgo's, whose functions are like those of C.
func (b *Binary) readGoVersion(t *pclntab) (GoVersion, error) {
	if info, err := buildinfo.Read(b.image.Reader()); err == nil {
		if strings.Contains(info.GoVersion, "gccgo") {
			return GoVersion{}, nil
		}
		return parseGoVersion(info.GoVersion)
	}
	if t == nil {
		return GoVersion{}, nil
	}
	v, _ := b.buildVersion(t.form)
	return v, nil
}

func parseGoVersion(text string) (GoVersion, error) {
	v := GoVersion{Text: text}
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
