package target

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

// buildID matches build IDs: two digits name a folder, the others a file in it.
var buildID = regexp.MustCompile(`^[0-9a-f]{4,128}$`)

// findDebugInfo finds debug information for a file that lacks it, in the system's folders and beside the file. It calls say for
// each file with debug information that does not fit. root is the folder that contains usr.
func findDebugInfo(b *offsets.Binary, say Say, root string) {
	if b.File().HasDebugInfo() {
		return
	}
	paths := linkedPaths(b, root)
	if id, _ := b.File().GNUBuildID(); buildID.MatchString(id) {
		paths = slices.Insert(paths, 0, filepath.Join(root, "/usr/lib/debug/.build-id", id[:2], id[2:]+".debug"))
	}
	for _, path := range paths {
		f, _, err := procfs.OpenBelow("/", path) // a regular file: a link beside an untrusted program may lead to a device
		if err != nil {
			continue // a missing file is not reported
		}
		if err = b.Internals().Describe(f, path); err == nil {
			return
		}
		say("debug information of %s: %v", b.File().Path(), err)
	}
}

// linkedPaths returns the possible paths of the file that .gnu_debuglink names. The section consists of the file's name, zeros,
// and a CRC32 (GDB's manual, "Debugging Information in Separate Files"), which is not needed, because Describe compares the
// files.
func linkedPaths(b *offsets.Binary, root string) (paths []string) {
	const most = 4096 // the length of a name
	section := b.File().RawSection(".gnu_debuglink")
	if section == nil || section.Size > most {
		return nil
	}
	text := make([]byte, section.Size)
	_, err := section.ReadAt(text, 0)
	name, _, _ := strings.Cut(string(text), "\x00")
	bin, absErr := filepath.Abs(b.File().Path())
	if err != nil || absErr != nil || name == "" || name != filepath.Base(name) {
		return nil
	}
	if file, err := filepath.EvalSymlinks(bin); err == nil {
		bin = file
	}
	dir := filepath.Dir(bin)
	paths = []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(root, "/usr/lib/debug", dir, name)}
	return slices.DeleteFunc(paths, func(path string) bool { return path == bin })
}
