// Package debugfile finds the debug information of stripped files: in the system's folders, beside the stripped file,
// and by debuginfod-find(1), if the user has named servers.
package debugfile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

// Find finds debug information for a file that lacks it. It calls say for each file with debug information that does
// not fit. If loading is not nil, Find calls it with the command line of debuginfod-find before running it.
func Find(b *offsets.Binary, say func(format string, args ...any), loading func(what string, done, of int)) {
	(&search{say: say, loading: loading}).describe(b)
}

// search looks for debug information.
type search struct {
	say     func(format string, args ...any)
	loading func(what string, done, of int) // may be nil
	// root is the folder that contains usr, "" for /. limit is how long debuginfod-find may run, maxTime if it is 0.
	root  string
	limit time.Duration
}

// buildID matches build IDs: two digits name a folder, the others a file in it, and debuginfod accepts at most 64 bytes
// (MAX_BUILD_ID_BYTES).
var buildID = regexp.MustCompile(`^[0-9a-f]{4,128}$`)

// describe is [Find].
func (s *search) describe(b *offsets.Binary) {
	if b.File().HasDebugInfo() {
		return
	}
	id, _ := b.File().GNUBuildID()
	known := buildID.MatchString(id)
	if known && s.take(b, filepath.Join(s.root, "/usr/lib/debug/.build-id", id[:2], id[2:]+".debug"), nil) {
		return
	}
	if !s.linked(b) && known {
		s.fetch(b, id)
	}
}

// take reads a file's debug information if the file exists and fits. If accept is not nil, it checks the file. If the
// file does not fit, take calls say.
func (s *search) take(b *offsets.Binary, path string, accept func(f *os.File) error) bool {
	f, _, err := procfs.OpenBelow("/", path) // a regular file: a link beside an untrusted program may lead to a device
	if err != nil {
		return false // a missing file is not reported
	}
	if accept != nil {
		err = accept(f)
	}
	if err != nil {
		f.Close()
		s.say("debug information of %s: %s: %v", b.File().Path(), path, err)
		return false
	}
	if err := b.Internals().Describe(f, path); err != nil {
		s.say("debug information of %s: %v", b.File().Path(), err)
		return false
	}
	return true
}

// linked looks for the file that .gnu_debuglink names. The section consists of the file's name, zeros up to a
// multiple of 4 bytes, and the file's CRC32 (GDB's manual, "Debugging Information in Separate Files").
func (s *search) linked(b *offsets.Binary) bool {
	const most = 4096 // the length of a name
	section := b.File().RawSection(".gnu_debuglink")
	if section == nil || section.Size < 8 || section.Size > most {
		return false
	}
	text := make([]byte, section.Size)
	if _, err := section.ReadAt(text, 0); err != nil {
		return false
	}
	name, _, _ := strings.Cut(string(text[:len(text)-4]), "\x00")
	want := binary.LittleEndian.Uint32(text[len(text)-4:])
	path, err := filepath.Abs(b.File().Path())
	if err != nil || name == "" || name != filepath.Base(name) {
		return false
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	dir := filepath.Dir(path)
	for _, at := range []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(s.root, "/usr/lib/debug", dir, name)} {
		if at != path && s.take(b, at, func(f *os.File) error { return checkCRC(f, want) }) {
			return true
		}
	}
	return false
}

func checkCRC(f *os.File, want uint32) error {
	if info, err := f.Stat(); err != nil || info.Size() > maxSize { // the whole file is read, including holes
		return cmp.Or(err, fmt.Errorf("it has more than %d bytes", maxSize))
	}
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return err
	}
	if got := crc.Sum32(); got != want {
		return fmt.Errorf("its CRC32 is %#x, not the %#x of .gnu_debuglink", got, want)
	}
	return nil
}
