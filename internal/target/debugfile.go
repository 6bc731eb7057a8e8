package target

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
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/offsets"
)

// describe has the file of symbols describe the binary, which is closed if that can't be. Without one, it is
// what is found of a file that has no debug information.
func (q *Query) describe(say Say, b *offsets.Binary) error {
	if q.Symbols == "" {
		(&search{say: say, loading: q.Loading}).describe(b)
		return nil
	}
	f, err := os.OpenFile(q.Symbols, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no named pipe keeps us waiting
	if err == nil {
		err = b.Describe(f, q.Symbols)
	}
	if err != nil {
		b.Close()
	}
	return err
}

// search looks for debug information.
type search struct {
	say     Say
	loading func(what string, done, of int) // if not nil, takes the command that runs
	// root is where /usr is, and limit how long debuginfod-find may run if that is not maxTime.
	root  string
	limit time.Duration
}

// buildID has a folder of two digits and a name, and at most as many bytes as debuginfod takes (MAX_BUILD_ID_BYTES).
var buildID = regexp.MustCompile(`^[0-9a-f]{4,128}$`)

// describe finds debug information for a file that has none of its own. A file that does not fit costs a line.
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

// take has a file describe the binary if it exists and fits. One that does not fit costs a line.
func (s *search) take(b *offsets.Binary, path string, accept func(f *os.File) error) bool {
	f, err := open(path)
	if err != nil {
		return false // no file is no news
	}
	if accept != nil {
		err = accept(f)
	}
	if err != nil {
		f.Close()
		s.say("debug information of %s: %s: %v", b.File().Path(), path, err)
		return false
	}
	if err := b.Describe(f, path); err != nil {
		s.say("debug information of %s: %v", b.File().Path(), err)
		return false
	}
	return true
}

// open opens a regular file. Nothing else is opened even for a look at it, because a link beside an untrusted program
// may lead to a device that does something then.
func open(path string) (*os.File, error) {
	place, err := os.OpenFile(path, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	if info, err := place.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("open %s: not a regular file", path))
	}
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", place.Fd()))
}

// linked looks where .gnu_debuglink says: it has the name of a file, zeros up to a word, and the file's CRC32 (GDB's
// manual, "Debugging Information in Separate Files").
func (s *search) linked(b *offsets.Binary) bool {
	const most = 4096 // a name's
	section := b.File().Plain(".gnu_debuglink")
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
	if info, err := f.Stat(); err != nil || info.Size() > maxSize { // all of it is read, holes too
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
