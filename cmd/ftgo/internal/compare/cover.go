package compare

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/ftgo/ftgo/internal/target"
)

// Cover is a cover profile of Go: blocks of source lines by file, and whether each has run.
type Cover []*cover.Profile

// CoverFunc is a function of a binary, and what is known of its calls.
type CoverFunc struct {
	target.Source
	Ran bool
	// Known: if no call was seen, there was none. Calls of other functions may be inlined, or could not be probed.
	Known bool
	Left  bool // the function was not asked for
}

// coverMode is the mode of profiles that say only whether a block has run.
const coverMode = "set"

// IsCover reports whether a file is a cover profile.
func IsCover(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	begin := make([]byte, len("mode: "))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == "mode: "
}

// ReadCovers reads profiles and adds them up: a block has run if it has run in one of them.
func ReadCovers(names ...string) (Cover, error) {
	texts := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if texts[i], err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if _, err := ParseCovers(texts[i]); err != nil {
			return nil, fmt.Errorf("read cover profile %s: %w", name, err)
		}
	}
	sum, err := ParseCovers(texts...)
	if err != nil {
		return nil, fmt.Errorf("add up cover profiles %s: %w", strings.Join(names, ", "), err)
	}
	return sum, nil
}

// ParseCovers parses texts of profiles and adds them up. It returns an error if the profiles cut a file into different blocks,
// because they are of different builds.
func ParseCovers(texts ...[]byte) (Cover, error) {
	all := []byte("mode: " + coverMode)
	for _, text := range texts {
		mode, blocks, _ := bytes.Cut(text, []byte("\n"))
		if !bytes.HasPrefix(mode, []byte("mode: ")) {
			return nil, fmt.Errorf("no line %q at the beginning", "mode: "+coverMode)
		}
		all = append(append(all, '\n'), bytes.TrimRight(blocks, "\n")...)
		all = bytes.TrimRight(all, "\n")
	}
	c, err := cover.ParseProfilesFromReader(bytes.NewReader(all))
	if err != nil {
		return nil, err
	}
	for _, file := range c {
		for i := range file.Blocks {
			b := &file.Blocks[i]
			b.Count = min(max(b.Count, 0), 1)
			if i == 0 {
				continue
			}
			if last := &file.Blocks[i-1]; cmp.Or(cmp.Compare(last.EndLine, b.StartLine), cmp.Compare(last.EndCol, b.StartCol)) > 0 {
				return nil, fmt.Errorf("blocks of %s overlap in lines %d and %d: the profiles are of different builds", file.FileName, last.StartLine, b.StartLine)
			}
		}
	}
	return c, nil
}

// Write writes the profile in the format of go test -coverprofile.
func (c Cover) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "mode: %s\n", coverMode)
	for _, file := range c {
		for _, b := range file.Blocks {
			fmt.Fprintf(out, "%s:%d.%d,%d.%d %d %d\n", file.FileName, b.StartLine, b.StartCol, b.EndLine, b.EndCol, b.NumStmt, b.Count)
		}
	}
	return out.Flush()
}

// Share returns the number of statements that have run, and of all statements. In profiles of ftgo, a function is one statement.
func (c Cover) Share() (ran, all int) {
	for _, file := range c {
		for _, b := range file.Blocks {
			all += b.NumStmt
			ran += b.NumStmt * b.Count
		}
	}
	return ran, all
}

// CoverChange is a block that has run in only one of two profiles.
type CoverChange struct {
	File string
	Line int
	Gone bool // it has run in the old profile
}

// Against compares a profile with an older one. It returns the blocks that differ, and the number of the blocks that have
// statements in only one of the two: their functions are unknown there, or the code has changed.
func (c Cover) Against(old Cover) (changes []CoverChange, elsewhere int) {
	type place struct {
		file string
		cover.ProfileBlock
	}
	key := func(file string, b cover.ProfileBlock) place {
		b.Count = 0
		return place{file, b}
	}
	before := make(map[place]int)
	for _, file := range old {
		for _, b := range file.Blocks {
			if b.NumStmt > 0 {
				before[key(file.FileName, b)] = b.Count
			}
		}
	}
	for _, file := range c {
		for _, b := range file.Blocks {
			count, known := before[key(file.FileName, b)]
			switch delete(before, key(file.FileName, b)); {
			case b.NumStmt == 0:
			case !known:
				elsewhere++
			case count != b.Count:
				changes = append(changes, CoverChange{file.FileName, b.StartLine, count > 0})
			}
		}
	}
	return changes, elsewhere + len(before)
}

// NewCover returns the profile of functions. It has a block for the lines of each function outside of other ones, so that
// no blocks overlap. Functions that are unknown have no block: what runs of them is inlined in others. The blocks of a
// function depend only on the binary, so that profiles of several runs can be added up.
//
// A program does not contain columns. Functions that begin in one line get columns 1, 2, and so on. Functions of the same
// nesting that begin in one line share a block: they may be copies of one function.
func NewCover(funcs []CoverFunc) (c Cover) {
	files := make(map[string][]CoverFunc)
	for _, f := range funcs {
		files[f.File] = append(files[f.File], f)
	}
	for name, list := range files {
		p := &cover.Profile{FileName: name, Mode: coverMode, Blocks: blocksOf(unify(list))}
		if len(p.Blocks) > 0 {
			c = append(c, p)
		}
	}
	slices.SortFunc(c, func(a, b *cover.Profile) int { return cmp.Compare(a.FileName, b.FileName) })
	return c
}

// unify sorts the functions of a file by their beginning, and joins functions that share a block.
func unify(list []CoverFunc) (joined []CoverFunc) {
	slices.SortStableFunc(list, func(a, b CoverFunc) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Nesting, b.Nesting))
	})
	for _, f := range list {
		if n := len(joined) - 1; n >= 0 && joined[n].First == f.First && joined[n].Nesting == f.Nesting {
			j := &joined[n]
			j.Last, j.Ran, j.Known, j.Left = max(j.Last, f.Last), j.Ran || f.Ran, j.Known && f.Known, j.Left && f.Left
			continue
		}
		joined = append(joined, f)
	}
	return joined
}

// blocksOf returns the blocks of the functions of a file.
func blocksOf(funcs []CoverFunc) (blocks []cover.ProfileBlock) {
	type place struct{ line, col int }
	less := func(a, b place) bool { return a.line < b.line || a.line == b.line && a.col < b.col }
	type open struct {
		*CoverFunc
		end  place
		stmt int // 1 until the function has a block
	}
	var around []*open // the functions around the cursor
	var cursor place
	// emit adds a block of the innermost function up to a place.
	emit := func(to place) {
		f := around[len(around)-1]
		if less(cursor, to) {
			if !f.Left && (f.Ran || f.Known) {
				count := 0
				if f.Ran {
					count = 1
				}
				blocks = append(blocks, cover.ProfileBlock{StartLine: cursor.line, StartCol: cursor.col, EndLine: to.line, EndCol: to.col, NumStmt: f.stmt, Count: count})
			}
			f.stmt, cursor = 0, to
		}
	}
	// leave ends the functions that end before a place.
	leave := func(at place) {
		for len(around) > 0 && !less(at, around[len(around)-1].end) {
			emit(around[len(around)-1].end)
			around = around[:len(around)-1]
		}
	}
	for i := range funcs {
		f := &funcs[i]
		at := place{f.First, 1}
		if i > 0 && funcs[i-1].First == f.First {
			at.col = cursor.col + 1
		}
		if leave(at); len(around) > 0 {
			emit(at)
		}
		cursor = at
		end := place{f.Last + 1, 1}
		for _, o := range around {
			if less(o.end, end) {
				o.end = end
			}
		}
		around = append(around, &open{f, end, 1})
	}
	leave(place{1 << 40, 0})
	return blocks
}
