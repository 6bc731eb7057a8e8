package uprobe

import (
	"strconv"
	"strings"
)

// Reads are the kernel's reads from memory at pointers, if the hit also fetches the pointer. After each read come the
// reads at pointers that it has read.
type Reads []read

type read struct {
	pointer    int    // the index of the word with the pointer
	off        uint64 // the offset from the pointer
	words      int    // the number of words, which the kernel reads one by one
	dependents int    // the number of following reads at pointers among these words, directly or indirectly
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
		reads    []read
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
	dependents := make(map[int][]int) // by a read, the reads at pointers in its result
	for i := range reads {
		from, ok := sources[pointers[i]]
		if !ok {
			continue // the hit does not fetch the pointer, such as the stack pointer
		}
		if from.read >= 0 {
			if _, known := sources[pointers[from.read]]; !known {
				from.read = -1
			}
		}
		reads[i].pointer = from.word
		dependents[from.read] = append(dependents[from.read], i)
	}
	var ordered Reads
	var add func(read int)
	add = func(read int) {
		for _, i := range dependents[read] {
			n := len(ordered)
			ordered = append(ordered, reads[i])
			add(i)
			ordered[n].dependents = len(ordered) - n - 1
		}
	}
	add(-1)
	return ordered
}

// dereference parses the fetcharg of memory at a pointer.
func dereference(fetch string) (off int64, pointer string, ok bool) {
	number, pointer, ok := strings.Cut(fetch, "(")
	off, err := strconv.ParseInt(number, 10, 64)
	return off, strings.TrimSuffix(pointer, ")"), ok && err == nil
}

// Faults returns the number of page faults that a hit causes in the kernel, from the words of the hit. The kernel reads
// the words of an array one by one, and each read causes a fault. A dependent read first reads its pointer again. That
// causes one fault, and the kernel skips the rest (process_fetch_insn_bottom in kernel/trace/trace_probe_tmpl.h).
func (r Reads) Faults(words []uint64) (n uint64) {
	for i := 0; i < len(r); i++ {
		if f := &r[i]; words[f.pointer]+f.off < unmapped {
			n += uint64(f.words + f.dependents)
			i += f.dependents
		}
	}
	return n
}

// MaxFaults returns an upper bound of Faults for any hit.
func (r Reads) MaxFaults() (n uint64) {
	for i := 0; i < len(r); i += r[i].dependents + 1 {
		f, rest := &r[i], r[i+1:]
		n += max(uint64(f.words+f.dependents), rest[:f.dependents].MaxFaults())
	}
	return n
}
