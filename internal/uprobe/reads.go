package uprobe

import (
	"strconv"
	"strings"
)

// Reads are the kernel's reads from memory at pointers.
type Reads []read

type read struct {
	pointer int    // the index of the word with the pointer; -1 if the hit does not fetch it, like the stack pointer
	from    int    // the index of the read that fetches the pointer, -1 if a register has it
	off     uint64 // the offset from the pointer
	words   int    // the number of words, which the kernel reads one by one
}

// unmapped is the lowest address that a program may map: the value of vm.mmap_min_addr in distributions.
const unmapped = 1 << 16

// Reads returns the reads that a site makes for the function's values. It returns none if the kernel skips reads at nil
// ([Event].Faults).
func (e *Event) Reads(s *Site) Reads {
	if !e.Faults {
		return nil
	}
	type source struct{ word, read int } // read is -1 if no read fetches the word
	var (
		reads    Reads
		sources  = make(map[string]source) // for words, by their fetchargs
		pointers []string                  // the fetcharg of each read's pointer
	)
	word := 0
	for i, a := range e.Args {
		if i < len(s.Fetch) {
			a.Fetch = s.Fetch[i]
		}
		count := max(ArrayLen(a), 1)
		if word >= e.Fields.Values {
			from := source{word, -1}
			off, pointer, ok := dereference(a.Fetch)
			if ok {
				from.read = len(reads)
				reads = append(reads, read{off: uint64(off), words: count})
				pointers = append(pointers, pointer)
			}
			for k := range count {
				if strings.Contains(a.Type, "64") { // smaller words are not pointers
					sources[a.Fetch] = source{word + k, from.read}
				}
				off += 8
				a.Fetch = at(off, pointer)
			}
		}
		word += count
	}
	for i, pointer := range pointers {
		from, ok := sources[pointer]
		if !ok {
			from = source{-1, -1}
		}
		reads[i].pointer, reads[i].from = from.word, from.read
	}
	return reads
}

// dereference parses the fetcharg of memory at a pointer.
func dereference(fetch string) (off int64, pointer string, ok bool) {
	number, pointer, ok := strings.Cut(fetch, "(")
	off, err := strconv.ParseInt(number, 10, 64)
	return off, strings.TrimSuffix(pointer, ")"), ok && err == nil
}

// Faults returns the number of page faults that a hit causes in the kernel, from the words of the hit. The kernel reads
// the words of an array one by one, and each read causes a fault. A read at a pointer that could not be read first reads
// the pointer again. That causes one fault, and the kernel skips the rest (process_fetch_insn_bottom in
// kernel/trace/trace_probe_tmpl.h).
func (r Reads) Faults(words []uint64) (n uint64) {
	for i := range r {
		if r.fails(r[i].from, words) {
			n++
		} else if r.fails(i, words) {
			n += uint64(r[i].words)
		}
	}
	return n
}

// fails reports whether read i can't read its words. It is false for read -1.
func (r Reads) fails(i int, words []uint64) bool {
	return i >= 0 && r[i].pointer >= 0 && (r.fails(r[i].from, words) || words[r[i].pointer]+r[i].off < unmapped)
}

// MaxFaults returns an upper bound of Faults for any hit.
func (r Reads) MaxFaults() (n uint64) {
	for i := range r {
		if r[i].pointer >= 0 {
			n += uint64(r[i].words)
		}
	}
	return n
}
