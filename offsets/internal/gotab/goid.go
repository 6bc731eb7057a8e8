package gotab

import "regexp"

// goidOffset is the offset of runtime.g.goid by minor version of Go, as DWARF of
// the versions themselves states it. stack is the first field in all of them.
var goidOffset = map[int]int64{
	4: 128,
	5: 184,                 // stktopsp and waiting lists for the new collector
	6: 192, 7: 192, 8: 192, // 6 and 8 by their runtime2.go
	9: 152, 10: 152, 11: 152, 12: 152, // stack barriers were removed
	13: 152, 14: 152, 15: 152, 16: 152,
	17: 152, 18: 152, 19: 152, 20: 152, 21: 152, 22: 152,
	23: 160, 24: 160, // syscallbp was added
	25: 152, 26: 152, // gobuf.ret was removed
}

// Goid is the offset of runtime.g.goid in releases of the version.
func (v Version) Goid() (offset int64, known bool) {
	offset, known = goidOffset[v.Minor]
	return offset, known
}

// plainRelease is the version of a release as it is: not of an experiment or a
// distribution's own, "go1.24.0 X:...", which may have other fields.
var plainRelease = regexp.MustCompile(`^go1\.[0-9]+(\.[0-9]+)?$`)

// Plain tells whether it is a release as it is.
func (v Version) Plain() bool { return plainRelease.MatchString(v.Text) }
