package uprobe

import (
	"strconv"
	"strings"
)

// Reads are what a site fetches from memory that pointers lead to, where the hit has these pointers,
// too. What hangs on a pointer follows where that was read.
type Reads []read

type read struct {
	pointer int    // the word that has the pointer
	off     uint64 // where is read, from where it points to
	words   int    // are read, one by one
	behind  int    // so many reads that follow begin with a pointer among these words, or behind one
}

// unmapped: below it no program has memory, by vm.mmap_min_addr as distributions set it.
const unmapped = 1 << 16

// Reads are those of one of the event's sites that are for values, if they may be [Event].Faults.
func (e *Event) Reads(s *Site) Reads {
	if !e.Faults {
		return nil
	}
	type source struct{ word, read int } // read is -1 for what needs no pointer
	var (
		reads   []read
		sources = make(map[string]source) // of words, by their fetchargs
		through []string                  // which of them a read has its pointer from
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
				if strings.Contains(a.Type, "64") { // else it is no pointer
					sources[a.Fetch] = source{word + k, from.read}
				}
				off += 8
				a.Fetch = at(off, pointer)
			}
		}
		word += count
	}
	hanging := make(map[int][]int) // on what a read has read
	for i := range reads {
		from, ok := sources[through[i]]
		if !ok {
			continue // as the stack is
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

// dereference takes a fetcharg apart that reads what a pointer leads to.
func dereference(fetch string) (off int64, pointer string, ok bool) {
	number, pointer, ok := strings.Cut(fetch, "(")
	off, err := strconv.ParseInt(number, 10, 64)
	return off, strings.TrimSuffix(pointer, ")"), ok && err == nil
}

// Faults is how many of the reads of a hit were of no memory, by its words: each is a page fault for the
// kernel. It reads the words of an array one by one, but for a pointer that it can't read nothing of what
// that leads to (process_fetch_insn_bottom in kernel/trace/trace_probe_tmpl.h).
func (r Reads) Faults(words []uint64) (n uint64) {
	for i := 0; i < len(r); i++ {
		if f := &r[i]; words[f.pointer]+f.off < unmapped {
			n += uint64(f.words + f.behind)
			i += f.behind
		}
	}
	return n
}

// Most is more than they ever are, or as many.
func (r Reads) Most() (n uint64) {
	for i := 0; i < len(r); i += r[i].behind + 1 {
		f, behind := &r[i], r[i+1:]
		n += max(uint64(f.words+f.behind), behind[:f.behind].Most())
	}
	return n
}
