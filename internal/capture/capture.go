package capture

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// Options bound what is fetched for one event.
type Options struct {
	// StrLen is how many bytes of a string or byte slice are fetched, Items how many other elements.
	StrLen, Items int
	// Fields is how many fields are fetched of a struct that nobody asked for by path; those that
	// pointers lead to are fetched only if they have no more. 0 is all.
	Fields int
	Arrays bool // the kernel fetches arrays (since 4.20); else it is asked for each word
	Memory bool // the kernel fetches from memory (since 3.14); else from registers alone
	// Static is the fetcharg for a virtual address of the file, load bias not counted.
	Static func(va uint64) string
	// Variable finds what a path begins with and no variable is called: "goarg2", "+8(goarg2):string".
	// Type finds what an interface holds by its name. They are for paths.
	Variable func(root string) (offsets.Variable, error)
	Type     func(name string) (*gotype.Type, error)
	Machine  *arch.Machine // the processor that the binary is for. Without it more events are needed
	Beside   []tracefs.Arg // arguments that the event has besides those that tell whose call it is
}

// What an event can hold, MAX_TRACE_ARGS (128) and MAX_PROBE_EVENT_SIZE (3,072 bytes) of
// kernel/trace/trace_probe.h, less what the caller's arguments and those that arrange adds need.
const (
	maxArgs  = 102
	maxBytes = 2800
	// maxLine is what all arguments' texts may have together: a definition has at most
	// 4,095 bytes (WRITE_BUFSIZE in kernel/trace/trace_dynevent.c).
	maxLine = 3300
	// maxShare is what a variable may have of the arguments when it was not asked for by
	// path: a pointer to a large struct would otherwise take them all.
	maxShare = 48
	// maxText is the longest fetcharg: "NAME=FETCHARG:TYPE" has at most 63 bytes.
	maxText = 48
	// maxArray is MAX_ARRAY_LEN in kernel/trace/trace_probe.h.
	maxArray = 64
	// maxDeref is below the 14 nested dereferences that the kernel takes.
	maxDeref = 12
)

// Capture is what is fetched for some variables at one site.
type Capture struct {
	Args  []tracefs.Arg // to be fetched, in this order
	Words int           // the number of words that all of them yield together

	// Large are the variables that were not fetched whole, for Options.Fields.
	Large []Large

	roots  []*node
	strLen int
	end    uint64 // of user space; 0 if that is not known
	at     []int  // at[i] is where the fetched words have the Builder's word i; nil is at i
}

// Large is a variable that holds, or points to, a struct of many fields.
type Large struct {
	Name   string
	Fields int
	Part   string // the path of one of them, c.cid
}

// argFrame is what a definition has around a fetcharg: " v100=" and ":x64[64]".
const argFrame = 14

const noRoom = "no room: name the parts that matter"

// arg is one fetcharg under construction.
type arg struct {
	fetch, typ string
	count      int // words, 0 for one that is no array
	at         int // its first word
}

// Builder collects what to fetch for variables at one site.
type Builder struct {
	vars  []offsets.Variable
	opt   Options
	args  []arg
	words int
	bytes int
	line  int // bytes of text
	max   int // the arguments there may be
	share int // those that the variable at hand may have, and the ones before
	short int // Options.Fields, where that is to be kept to
	large *Large
	named bool // somebody knows arguments by their names, which go by their order
	slot  int  // which element of a map a path with a key leads to
	// arrays are those that are fetched, which what lies in them need not be again.
	arrays []region
	// complete: nothing more is fetched; way is the path to the value at hand, for who wants it.
	complete bool
	way      string
}

// region is an array of words in memory, as in source.
type region struct {
	inner      string
	off, words int64
	at         int // its first word
}

// NewBuilder returns a Builder for variables.
func NewBuilder(vars []offsets.Variable, opt Options) *Builder {
	b := &Builder{vars: vars, opt: opt, max: maxArgs - len(opt.Beside), share: maxArgs}
	for _, a := range opt.Beside {
		b.line += len(a.Fetch) + argFrame
		b.bytes += 16 // two words at most
	}
	return b
}

// Capture is what has been asked for, as far as there is room; what there is none for is known as
// unfetched. paths select parts: "req.URL.Path", "s.items[0].name", "*p"; nil are all variables
// whole. Decode yields their values, then those of more, which have precedence in the room.
func (b *Builder) Capture(paths, more []string) (*Capture, error) {
	last, err := b.paths(more, false)
	if err != nil {
		return nil, err
	}
	c := &Capture{strLen: b.opt.StrLen}
	if m := b.opt.Machine; m != nil {
		c.end = 1 << m.AddressBits
	}
	if c.roots, err = b.paths(paths, true); err != nil {
		return nil, err
	}
	if paths == nil {
		for i := range b.vars {
			b.share = len(b.args) + maxShare
			b.short, b.large = b.opt.Fields, nil
			t, s := b.root(&b.vars[i])
			n := b.value(b.vars[i].Name, t, s, 1)
			b.reveal(n, &b.vars[i], s)
			c.roots = append(c.roots, n)
			if b.short = 0; b.large == nil {
				continue
			}
			part := b.vars[i].Name + "." + b.large.Part
			if _, err := b.Type(part); err == nil { // else something in it is large
				c.Large = append(c.Large, Large{b.vars[i].Name, b.large.Fields, part})
			}
		}
	}
	c.roots = append(c.roots, last...)
	b.arrange(c)
	return c, nil
}

// Fetches tells whether anything is fetched of what path i of [Builder.Capture] leads to, whose type is known.
func (c *Capture) Fetches(i int) bool {
	return c.roots[i].typ.Kind != reflect.Invalid && c.roots[i].fetched()
}

func (n *node) fetched() bool {
	return n.why == "" && n.typ.Size > 0 && (len(n.kids) == 0 || slices.ContainsFunc(n.kids, (*node).fetched))
}

// fetch adds an argument, and returns its first word. why is "" unless there is no room.
func (b *Builder) fetch(text, typ string, count, bytes int) (at int, why string) {
	if i := slices.IndexFunc(b.args, func(a arg) bool { return a.fetch == text && a.typ == typ }); i >= 0 {
		return b.args[i].at, ""
	}
	switch {
	case b.complete:
		return 0, unasked(b.way)
	case !b.opt.Memory && text[0] != '%':
		return 0, "in memory: this kernel fetches registers alone (Linux before 3.14)"
	case len(text) > maxText:
		return 0, "too many pointers away"
	case len(b.args) >= min(b.max, b.share) || b.bytes+bytes > maxBytes || b.line+len(text)+argFrame > maxLine:
		return 0, noRoom
	}
	at = b.words
	b.args = append(b.args, arg{text, typ, count, at})
	b.words += max(count, 1)
	b.bytes += bytes
	b.line += len(text) + argFrame
	return at, ""
}

// leaf is a number of up to eight bytes among the fetched words. The zero leaf is none, and reads as 0.
type leaf struct {
	at     int
	shift  uint
	size   int64
	signed bool
}

// there tells whether the number was fetched.
func (l leaf) there() bool { return l.size > 0 }

func (l leaf) read(words []uint64) uint64 {
	if !l.there() {
		return 0
	}
	v := words[l.at] >> l.shift
	unused := uint(64 - 8*l.size)
	if l.signed {
		return uint64(int64(v<<unused) >> unused)
	}
	return v << unused >> unused
}

// scalar fetches the first size bytes of a value.
func (b *Builder) scalar(s source, size int64, signed bool) (leaf, string) {
	text, shift, why := s.word(b, size)
	if why != "" {
		return leaf{}, why
	}
	for _, a := range b.arrays {
		if in := s.off - a.off; a.inner == s.inner && in >= 0 && in+size <= 8*a.words && in%8+size <= 8 {
			return leaf{a.at + int(in/8), uint(8 * (in % 8)), size, signed}, ""
		}
	}
	width := size
	switch {
	case shift > 0, text[0] == '%', text[0] == '+' && s.aligned(b, size):
		width = 8
	case size != 1 && size != 2 && size != 4 && size != 8:
		return leaf{}, fmt.Sprintf("%d bytes", size)
	}
	// Signed numbers are printed in decimal by every kernel; read drops the sign.
	at, why := b.fetch(text, "s"+strconv.FormatInt(8*width, 10), 0, int(width))
	if why != "" {
		return leaf{}, why
	}
	return leaf{at, shift, size, signed}, ""
}

// textWords are the words that are fetched of a string.
func (b *Builder) textWords() int { return min((b.opt.StrLen+7)/8, maxArray) }

// array fetches n words.
func (b *Builder) array(s source, n int) (at int, why string) {
	n = min(n, maxArray)
	text, _, why := s.text(b, 8)
	switch {
	case why != "":
		return 0, why
	case b.opt.Arrays:
		if at, why = b.fetch(text, fmt.Sprintf("x64[%d]", n), n, 8*n); why != "" {
			return 0, why
		}
	case len(b.args)+n > min(b.max, b.share) && !b.complete:
		return 0, noRoom
	}
	for i := 0; i < n && !b.opt.Arrays; i++ {
		text, _, why := s.at(int64(8*i)).text(b, 8)
		if why != "" {
			return 0, why
		}
		// There is no x64 before 4.9.
		w, why := b.fetch(text, "u64", 0, 8)
		if why != "" {
			return 0, why
		}
		if i == 0 {
			at = w
		}
		if w != at+i { // the words must follow each other: one that is there already won't do
			return 0, noRoom
		}
	}
	if s.inner != "" && !b.complete {
		b.arrays = append(b.arrays, region{s.inner, s.off, int64(n), at})
	}
	return at, ""
}

// arrange writes the arguments into a Capture, in an order that many functions share:
// sites whose arguments agree in types can be of one event, and each event more makes it
// take longer to remove the probes. So words come first, arrays last, and there are some
// more words than needed, from a register, which costs next to nothing.
func (b *Builder) arrange(c *Capture) {
	args := slices.Clone(b.args)
	if !b.named {
		words := 0
		for _, a := range args {
			if a.typ == "s64" {
				words++
			}
		}
		if b.opt.Machine != nil {
			for range padded(words) - words {
				args = append(args, arg{fetch: b.opt.Machine.Filler.Fetch(), typ: "s64", at: -1})
			}
		}
		slices.SortStableFunc(args, func(x, y arg) int {
			return cmp.Or(cmp.Compare(x.count, y.count), cmp.Compare(len(y.typ), len(x.typ)), cmp.Compare(y.typ, x.typ))
		})
		c.at = make([]int, b.words)
	}
	for i, a := range args {
		c.Args = append(c.Args, tracefs.Arg{Name: "v" + strconv.Itoa(i), Fetch: a.fetch, Type: a.typ})
		for k := range max(a.count, 1) {
			if c.at != nil && a.at >= 0 {
				c.at[a.at+k] = c.Words
			}
			c.Words++
		}
	}
}

// padded is the number of words that n are filled up to. More than maxArgs there never are.
func padded(n int) int {
	for _, enough := range []int{0, 2, 4, 8, 12, 16, 24, 32, 48, 64} {
		if n <= enough {
			return enough
		}
	}
	return n
}
