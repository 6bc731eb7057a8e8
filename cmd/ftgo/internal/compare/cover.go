package compare

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
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
	// Known: the function has not run unless Ran is true. Calls of other functions may be inlined, could not be probed, or were not
	// asked for.
	Ran, Known bool
}

// coverStart is the beginning of a profile. Its mode follows.
const coverStart = "mode: "

// IsCover reports whether a file is a cover profile.
func IsCover(name string) bool {
	begin := make([]byte, len(coverStart))
	f, err := os.Open(name)
	if err == nil {
		_, err = io.ReadFull(f, begin)
		f.Close()
	}
	return err == nil && string(begin) == coverStart
}

// ReadCovers reads profiles and adds them up: a block has run if it has run in one of them.
func ReadCovers(names ...string) (sum Cover, err error) {
	texts := make([][]byte, len(names))
	for i, name := range names {
		if texts[i], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if sum, err = ParseCovers(texts...); err != nil {
		err = fmt.Errorf("read cover profile %s: %w", strings.Join(names, ", "), err)
	}
	return sum, err
}

// ParseCovers parses texts of profiles and adds them up. It returns an error if the profiles cut a file into different blocks,
// because they are of different builds.
func ParseCovers(texts ...[]byte) (Cover, error) {
	all := []byte(coverStart + "set\n")
	for _, text := range texts {
		mode, blocks, _ := bytes.Cut(text, []byte("\n"))
		if !bytes.HasPrefix(mode, []byte(coverStart)) {
			return nil, fmt.Errorf("no %q at the beginning", coverStart)
		}
		if blocks = bytes.TrimRight(blocks, "\n"); len(blocks) > 0 {
			all = append(append(all, blocks...), '\n')
		}
	}
	c, err := cover.ParseProfilesFromReader(bytes.NewReader(all))
	for _, file := range c {
		end := 0
		for i := range file.Blocks {
			b := &file.Blocks[i]
			if b.Count, b.NumStmt = min(max(b.Count, 0), 1), min(b.NumStmt, math.MaxInt32); place(b.StartLine, b.StartCol) < end {
				return nil, fmt.Errorf("blocks of %s overlap in line %d: the profiles are of different builds", file.FileName, b.StartLine)
			}
			end = place(b.EndLine, b.EndCol)
		}
	}
	return c, err
}

// place returns a number for a place in a file. Later places have larger numbers.
func place(line, col int) int { return line<<20 + col }

// Write writes the profile in the format of go test -coverprofile.
func (c Cover) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, coverStart+"set")
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

// Against compares a profile with an older one. It returns a line for each block that has run in only one of them, with the name of
// the function if names has its place. elsewhere is the number of blocks with statements in only one of the two: their functions are
// unknown there, or the code has changed.
func (c Cover) Against(old Cover, names map[string]string) (lines []string, elsewhere int) {
	each := func(c Cover, found func(place, key string, ran bool)) {
		for _, file := range c {
			for _, b := range file.Blocks {
				if place := fmt.Sprintf("%s:%d", file.FileName, b.StartLine); b.NumStmt > 0 {
					found(place, fmt.Sprintf("%s.%d,%d.%d", place, b.StartCol, b.EndLine, b.EndCol), b.Count > 0)
				}
			}
		}
	}
	before := make(map[string]bool)
	each(old, func(_, key string, ran bool) { before[key] = ran })
	each(c, func(place, key string, ran bool) {
		if did, known := before[key]; !known {
			elsewhere++
		} else if did != ran {
			what := map[bool]string{true: "new ", false: "gone"}[ran]
			lines = append(lines, strings.TrimSpace(what+"  "+place+"  "+names[place]))
		}
		delete(before, key)
	})
	return lines, elsewhere + len(before)
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
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if blocks := blocksOf(unify(files[name])); len(blocks) > 0 {
			c = append(c, &cover.Profile{FileName: name, Blocks: blocks})
		}
	}
	return c
}

// unify sorts the functions of a file by their beginning, and joins functions that share a block.
func unify(list []CoverFunc) (joined []CoverFunc) {
	slices.SortStableFunc(list, func(a, b CoverFunc) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Nesting, b.Nesting))
	})
	for _, f := range list {
		if n := len(joined) - 1; n < 0 || joined[n].First != f.First || joined[n].Nesting != f.Nesting {
			joined = append(joined, f)
		} else {
			j := &joined[n]
			j.Last, j.Ran, j.Known = max(j.Last, f.Last), j.Ran || f.Ran, j.Known && f.Known
		}
	}
	return joined
}

// blocksOf returns the blocks of the functions of a file.
func blocksOf(funcs []CoverFunc) (blocks []cover.ProfileBlock) {
	type open struct {
		*CoverFunc
		line, stmt int // the line behind the function; 1 until the function has a block
	}
	var around []*open // the functions around line.col
	line, col := 0, 0
	// emit adds a block of the innermost function up to a place.
	emit := func(toLine, toCol int) {
		f := around[len(around)-1]
		if place(line, col) >= place(toLine, toCol) {
			return
		}
		if f.Ran || f.Known {
			count := map[bool]int{true: 1}[f.Ran]
			blocks = append(blocks, cover.ProfileBlock{StartLine: line, StartCol: col, EndLine: toLine, EndCol: toCol, NumStmt: f.stmt, Count: count})
		}
		f.stmt, line, col = 0, toLine, toCol
	}
	// leave ends the functions that end at or before a line.
	leave := func(at int) {
		for len(around) > 0 && around[len(around)-1].line <= at {
			emit(around[len(around)-1].line, 1)
			around = around[:len(around)-1]
		}
	}
	for i := range funcs {
		f, begin := &funcs[i], 1
		if i > 0 && funcs[i-1].First == f.First {
			begin = col + 1
		}
		if leave(f.First); len(around) > 0 {
			emit(f.First, begin)
		}
		line, col = f.First, begin
		around = append(around, &open{f, f.Last + 1, 1})
		for _, o := range around {
			o.line = max(o.line, f.Last+1)
		}
	}
	leave(math.MaxInt)
	return blocks
}
