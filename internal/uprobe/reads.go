package uprobe

import (
	"strconv"
	"strings"
)

// Reads are the fetches of a site from memory at pointers, as far as the hit has the pointers,
// too. Reads that depend on a pointer follow the read of the pointer.
type Reads []read

type read struct {
	pointer int    // the word that has the pointer
	off     uint64 // the offset from the pointer
	words   int    // the number of words, which are read one by one
	behind  int    // the number of following reads that depend on a pointer among these words
}

// unmapped is the lowest address that a program may map, by vm.mmap_min_addr as distributions set it.
const unmapped = 1 << 16

// Reads returns the reads of a site for values, if they may be [Event].Faults.
func (e *Event) Reads(s *Site) Reads {
	if !e.Faults {
		return nil
	}
	type source struct{ word, read int } // read is -1 if the word needs no pointer
	var (
		reads   []read
		sources = make(map[string]source) // of words, by their fetchargs
		through []string                  // the fetcharg of each read's pointer
	)
	word := 0
	for i, a := range e.Args {
		if i < len(s.Fetch) {
			a.Fetch = s.Fetch[i]
		}
		count := 1
		if e.Counts != nil {
			count = max(e.Counts[i], 1)
		}
		if word >= e.Fields.Values {
			from := source{word, -1}
			off, pointer, ok := dereference(a.Fetch)
			if ok {
				from.read = len(reads)
				reads = append(reads, read{off: uint64(off), words: count})
				through = append(through, pointer)
			}
			for k := range count {
				if strings.Contains(a.Type, "64") { // others are not pointers
					sources[a.Fetch] = source{word + k, from.read}
				}
				off += 8
				a.Fetch = at(off, pointer)
			}
		}
		word += count
	}
	hanging := make(map[int][]int) // the reads that depend on a read
	for i := range reads {
		from, ok := sources[through[i]]
		if !ok {
			continue // such as the stack
		}
		if from.read >= 0 {
			if _, told := sources[through[from.read]]; !told {
				from.read = -1
			}
		}
		reads[i].pointer = from.word
		hanging[from.read] = append(hanging[from.read], i)
	}
	var ordered Reads
	var add func(read int)
	add = func(read int) {
		for _, i := range hanging[read] {
			n := len(ordered)
			ordered = append(ordered, reads[i])
			add(i)
			ordered[n].behind = len(ordered) - n - 1
		}
	}
	add(-1)
	return ordered
}

// dereference parses a fetcharg that reads memory at a pointer.
func dereference(fetch string) (off int64, pointer string, ok bool) {
	number, pointer, ok := strings.Cut(fetch, "(")
	off, err := strconv.ParseInt(number, 10, 64)
	return off, strings.TrimSuffix(pointer, ")"), ok && err == nil
}

// Faults returns the number of reads of a hit that found no memory, by its words: each is a page fault of the
// kernel. The kernel reads the words of an array one by one. If it can't read a pointer, it reads nothing that
// depends on it (process_fetch_insn_bottom in kernel/trace/trace_probe_tmpl.h).
func (r Reads) Faults(words []uint64) (n uint64) {
	for i := 0; i < len(r); i++ {
		if f := &r[i]; words[f.pointer]+f.off < unmapped {
			n += uint64(f.words + f.behind)
			i += f.behind
		}
	}
	return n
}

// Most returns an upper bound of Faults.
func (r Reads) MaxFaults() (n uint64) {
	for i := 0; i < len(r); i += r[i].behind + 1 {
		f, behind := &r[i], r[i+1:]
		n += max(uint64(f.words+f.behind), behind[:f.behind].MaxFaults())
	}
	return n
}
