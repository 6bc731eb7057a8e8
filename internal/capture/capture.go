package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// Limits bound the parts of values that are fetched.
type Limits struct {
	// StrLen is the number of bytes to fetch of a string or a byte slice. Items is the number of elements to fetch of
	// an array or another slice.
	StrLen, Items int
	// Fields is the number of fields to fetch of a struct in a variable that no path selects. The target of a pointer
	// is left out if it is a struct with more fields. 0 means no limit.
	Fields int
}

// DefaultLimits are the limits without flags.
var DefaultLimits = Limits{StrLen: 64, Items: 8}

// Options describe the kernel and the binary for a Builder, and limit what it fetches.
type Options struct {
	Limits
	// Without Arrays (Linux before 4.20), each word of an array is an argument. Without Memory (before 3.14), only
	// registers are fetched.
	tracefs.Features
	// Static returns the fetcharg for a virtual address in the file, without the load bias.
	Static func(va uint64) string
	// Variable finds the root of a path that is not the name of a variable: "goarg2", "+8(goarg2):string".
	// It is used only for paths.
	Variable func(root string) (offsets.Variable, error)
	// Type finds a type by name, for the type assertions in paths.
	Type    func(name string) (*gotype.Type, error)
	Labels  offsets.Variable // the labels of the goroutine
	Machine *arch.Machine    // describes the binary's processor
	// Resume is the result of ResumesWithoutArgs for the function, or 0.
	Resume uint64
	// Addresses: of a pointer that a path leads to, only the address is fetched, without the target.
	Addresses bool
	// OtherArgs are arguments that the caller adds to the event, for example to fetch the stack. The Builder leaves
	// room for them. maxArgs and maxBytes already allow for the arguments that identify the call.
	OtherArgs []tracefs.Arg
}

// Limits of an event, below MAX_TRACE_ARGS (128) and MAX_PROBE_EVENT_SIZE (3,072 bytes) of kernel/trace/trace_probe.h.
// The difference is for the arguments that identify the call, and for the padding that arrange adds.
const (
	maxArgs  = 102
	maxBytes = 2800
	// maxLine limits the length of all arguments' text: a definition has at most
	// 4,095 bytes (WRITE_BUFSIZE in kernel/trace/trace_dynevent.c).
	maxLine = 3300
	// maxShare is the number of arguments that one variable can take if no path selects it.
	// Otherwise a pointer to a large struct could take all of them.
	maxShare = 48
	// maxText is the length of the longest fetcharg: "NAME=FETCHARG:TYPE" has at most 63 bytes.
	maxText = 48
	// maxArray is MAX_ARRAY_LEN in kernel/trace/trace_probe.h.
	maxArray = 64
	// maxDeref is the number of nested dereferences in a base address. The kernel accepts 14.
	maxDeref = 12
)

// Capture lists the arguments that fetch some variables at one site, and decodes their values.
type Capture struct {
	Args  []tracefs.Arg // in the order of the event
	Words int           // the number of words that Args yield

	roots  []*node
	strLen int
	// The values are lost if the word resumed is the address resume in the file.
	resume  uint64
	resumed leaf
	end     uint64 // the end of user space
	// positions maps the index of a word, as in the leaves of nodes, to its index among the fetched words.
	positions []int
}

// argFrame is the length of the text around a fetcharg in a definition: " v100=" and ":x64[64]".
const argFrame = 14

const noRoom = "no room: name the parts that matter"

// arg is one fetcharg under construction.
type arg struct {
	fetch, typ string
	count      int // the number of words in an array, 0 if it is a single number
	at         int // the index of its first word
}

// Builder collects the arguments that fetch variables at one site.
type Builder struct {
	vars  []offsets.Variable
	opt   Options
	args  []arg
	words int // the number of words that args yield
	bytes int // the size of args in an event
	line  int // the length of the text of args in a definition
	limit int // the largest number of args when the current variable is planned
	// fixedOrder: Field has returned the name of an argument, which depends on its position.
	fixedOrder bool
	slot       int // the slot of a map that walk takes an element from
	// arrays maps the fetchargs of words in fetched arrays to the indexes of these words. A number inside of an array needs
	// no argument.
	arrays map[string]int
	// sealed: no argument can be added, because the probe is already placed. path then leads from an interface to the
	// current value in it, for messages.
	sealed bool
	path   string
}

// NewBuilder returns a Builder for variables.
func NewBuilder(vars []offsets.Variable, opt Options) *Builder {
	b := &Builder{vars: vars, opt: opt, limit: maxArgs - len(opt.OtherArgs), arrays: make(map[string]int)}
	for _, a := range opt.OtherArgs {
		b.line += len(a.Fetch) + argFrame
		b.bytes += 16 // an argument has at most two words
	}
	return b
}

// Capture plans how to fetch the values of paths, like "req.URL.Path", "s.items[0].name" and "*p", or of all variables
// if paths is nil. [Capture.AppendValues] returns the values of paths and then of extra. If the event has no room for
// all of them, values of paths lack room rather than values of extra. Values without room are Unfetched.
func (b *Builder) Capture(paths, extra []string) (*Capture, error) {
	fields, most := b.opt.Fields, b.limit
	b.opt.Fields = 0 // it does not limit values of paths
	last, err := b.paths(extra)
	if err != nil {
		return nil, err
	}
	c := &Capture{strLen: b.opt.StrLen, end: 1 << b.opt.Machine.AddressBits}
	if c.roots, err = b.paths(paths); err != nil {
		return nil, err
	}
	if paths == nil {
		b.opt.Fields = fields
		for i := range b.vars {
			b.limit = min(len(b.args)+maxShare, most)
			t, s := b.root(&b.vars[i])
			c.roots = append(c.roots, b.value(b.vars[i].Name, t, s, 1))
		}
	}
	c.roots = append(c.roots, last...)
	if b.opt.Resume != 0 && len(b.args) > 0 {
		b.limit = maxArgs
		at, reason := b.fetch(b.opt.Machine.Resume.Fetch(), "s64", 0, 8)
		if reason != "" {
			return nil, fmt.Errorf("fetch arguments: %s", reason)
		}
		c.resume, c.resumed = b.opt.Resume, leaf{at: at, size: 8}
	}
	b.arrange(c)
	return c, nil
}

// fetch adds an argument, unless an equal one exists already, and returns the index of its first word. If it can't add
// the argument, reason says why.
func (b *Builder) fetch(text, typ string, count, bytes int) (at int, reason string) {
	if i := slices.IndexFunc(b.args, func(a arg) bool { return a.fetch == text && a.typ == typ }); i >= 0 {
		return b.args[i].at, ""
	}
	switch {
	case b.sealed:
		return 0, notFetched(b.path)
	case !b.opt.Memory && text[0] != '%':
		return 0, "in memory: this kernel fetches registers alone (Linux before 3.14)"
	case len(text) > maxText:
		return 0, "too many pointers away"
	case len(b.args) >= b.limit || b.bytes+bytes > maxBytes || b.line+len(text)+argFrame > maxLine:
		return 0, noRoom
	}
	at = b.words
	b.args = append(b.args, arg{text, typ, count, at})
	b.words += max(count, 1)
	b.bytes += bytes
	b.line += len(text) + argFrame
	return at, ""
}

// leaf is a number of up to eight bytes in a fetched word. The zero leaf is not fetched, and reads as 0.
type leaf struct {
	at     int
	shift  uint
	size   int64
	signed bool
}

func (l leaf) fetched() bool { return l.size > 0 }

func (l leaf) read(words []uint64) uint64 {
	if !l.fetched() {
		return 0
	}
	v := words[l.at] >> l.shift
	unused := uint(64 - 8*l.size)
	if l.signed {
		return uint64(int64(v<<unused) >> unused)
	}
	return v << unused >> unused
}

// scalar plans how to fetch the first size bytes of a value as a number, or returns the reason why it can't. If the kernel
// can fetch the aligned word around the number, it fetches that: words on the stack, and words behind a pointer to a type
// that is aligned to words. The fewer types the arguments have, the fewer events the sites need, and the sooner these are
// removed.
func (b *Builder) scalar(s source, size int64, signed bool) (leaf, string) {
	text, shift, reason := s.text(b, size)
	if reason != "" {
		return leaf{}, reason
	}
	p, _ := s.piece(size)
	onStack := p.InMemory && p.Register == b.opt.Machine.SP
	at := s.off
	if onStack {
		at += p.Disp - p.Offset
	}
	width, in := size, at&7
	switch {
	case s.base != "" && in+size <= 8:
		aligned, _, _ := s.at(-in).text(b, 8)
		if word, ok := b.arrays[aligned]; ok {
			return leaf{word, uint(8 * in), size, signed}, ""
		} else if s.align == 8 {
			text, shift, width = aligned, uint(8*in), 8
		}
	case onStack && in+size <= 8:
		text, shift, width = p.Register.At(at-in), uint(8*in), 8
	case shift > 0 || text[0] == '%':
		width = 8
	}
	if width != 1 && width != 2 && width != 4 && width != 8 {
		return leaf{}, fmt.Sprintf("%d bytes", size)
	}
	// All kernels print signed numbers in decimal. leaf.read extends the sign only of signed types.
	word, reason := b.fetch(text, "s"+strconv.FormatInt(8*width, 10), 0, int(width))
	if reason != "" {
		return leaf{}, reason
	}
	return leaf{word, shift, size, signed}, ""
}

// textWords returns the number of words that are fetched of a string.
func (b *Builder) textWords() int { return min((b.opt.StrLen+7)/8, maxArray) }

// array plans how to fetch n words behind a pointer, at most maxArray. It returns the index of the first word.
func (b *Builder) array(s source, n int) (at int, reason string) {
	n = min(n, maxArray)
	text, _, reason := s.text(b, 8)
	switch {
	case reason != "":
	case b.opt.Arrays:
		at, reason = b.fetch(text, fmt.Sprintf("x64[%d]", n), n, 8*n)
	case len(b.args)+n > b.limit && !b.sealed:
		reason = noRoom
	}
	for i := 0; i < n && reason == ""; i++ {
		text, _, _ := s.at(int64(8*i)).text(b, 8)
		word := at + i
		if !b.opt.Arrays { // kernels before 4.9 do not have the type x64
			word, reason = b.fetch(text, "u64", 0, 8)
		}
		switch {
		case i == 0:
			at = word
		case reason == "" && word != at+i: // the words must be consecutive, but an earlier argument fetches this one
			reason = noRoom
		}
		if reason == "" && !b.sealed {
			b.arrays[text] = word
		}
	}
	return at, reason
}

// arrange writes the arguments into a Capture. Sites whose arguments have the same types can share an event, and each
// additional event makes the removal of the probes take longer. Therefore arrange sorts the arguments by type, numbers
// before arrays, and adds words from a register, which are cheap, so that the number of words is one of a few numbers.
// It adds none above 64, so that the result is at most maxArgs.
func (b *Builder) arrange(c *Capture) {
	args := slices.Clone(b.args)
	if !b.fixedOrder {
		words := 0
		for _, a := range args {
			if a.typ == "s64" {
				words++
			}
		}
		numbers := []int{0, 2, 4, 8, 12, 16, 24, 32, 48, 64}
		for i, _ := slices.BinarySearch(numbers, words); i < len(numbers) && words < numbers[i]; words++ {
			args = append(args, arg{fetch: b.opt.Machine.Resume.Fetch(), typ: "s64", at: -1})
		}
		slices.SortStableFunc(args, func(x, y arg) int {
			return cmp.Or(cmp.Compare(x.count, y.count), cmp.Compare(len(y.typ), len(x.typ)), cmp.Compare(y.typ, x.typ))
		})
	}
	c.positions = make([]int, b.words)
	for i, a := range args {
		c.Args = append(c.Args, tracefs.Arg{Name: "v" + strconv.Itoa(i), Fetch: a.fetch, Type: a.typ})
		for k := range max(a.count, 1) {
			if a.at >= 0 {
				c.positions[a.at+k] = c.Words
			}
			c.Words++
		}
	}
}
