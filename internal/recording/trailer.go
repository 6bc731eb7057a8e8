package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

const (
	// aboutKey begins the line with the plan.
	aboutKey = "# about "
	// maxAbout is the maximum length of the line with the plan, in bytes. A plan of 100,000 functions has 30 MB.
	maxAbout = 128 << 20
	// minNonce is the minimum length of the nonce. It makes the line behind the events longer than the name of a
	// thread.
	minNonce = 8
	// maxLine is the buffer size for lines of events, more than any of them has.
	maxLine = 64 << 10
	// maxFact is the maximum length of other lines. The longest contains the arguments of a program, at most 6 MB
	// (MAX_ARG_STRINGS and _STK_LIM of fs/exec.c).
	maxFact = 8 << 20
)

// lineReader reads a recording line by line. For the lines of events it is a [parse.Source], so that Open reads the
// file only once.
type lineReader struct {
	r      *bufio.Reader
	offset int64 // of the next line

	end       string // the line behind the events
	eventsEnd int64  // offset of the last line that Read has read
	ended     bool   // Read has reached end
	part      bool   // the last Read returned only a part of its line
}

// next returns the next line of the header or the trailer, without its line ending.
func (l *lineReader) next() (string, error) {
	var b []byte
	for {
		part, err := l.r.ReadSlice('\n')
		l.offset += int64(len(part))
		most := maxFact
		if bytes.HasPrefix(b, []byte(aboutKey)) {
			most = maxAbout
		}
		if len(b)+len(part) > most {
			return "", fmt.Errorf("read recording: line %q is longer than %d MB, which no line should be", shorten(string(b[:min(len(b), 100)])), most>>20)
		}
		b = append(b, part...)
		switch {
		case err == nil:
			return strings.TrimRight(string(b), "\r\n"), nil
		case errors.Is(err, io.EOF) && len(b) > 0:
			return string(b), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// keys passes each line "# KEY VALUE" to take, up to the line that consists of "# " and end. The error for any other
// line contains where, which names its place.
func (l *lineReader) keys(where, end string, take func(line, key, value string) error) error {
	for {
		line, err := l.next()
		if err != nil {
			return err
		}
		text, ok := strings.CutPrefix(line, "# ")
		if !ok {
			return fmt.Errorf("read recording: %s a line %q", where, shorten(line))
		}
		if text == end {
			return nil
		}
		key, value, _ := strings.Cut(text, " ")
		if err := take(line, key, value); err != nil {
			return err
		}
	}
}

// scan reads the events to find their end and the processes of their threads, and then reads the trailer.
func (r *Recording) scan(from io.ReaderAt, lines *lineReader) error {
	first := lines.offset
	lines.end = "# ended " + r.nonce
	reader, err := parse.NewReader(uprobe.Formats(r.Plan.Events), lines, nil)
	if err == nil && len(r.nonce) < minNonce {
		err = fmt.Errorf("%q is too short to mark its end", r.nonce)
	}
	note := func(ev *parse.Event) { r.pids[ev.TID] = cmp.Or(ev.PID, r.pids[ev.TID]) }
	for err == nil {
		_, err = reader.Read(context.Background(), note)
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("read recording: %w", err)
	}
	reader.Finish(note)
	r.events = io.NewSectionReader(from, first, lines.eventsEnd-first)
	if err = nil; lines.ended { // else the recording was cut off
		err = r.trailer(lines)
	}
	// The lines of a thread may have no PID, or the PID of an earlier thread with the same ID, which the kernel's table had
	// when the recording began. The table at the end has the right PID.
	for tid, pid := range r.noted["ended"] {
		if printed, seen := r.pids[tid]; seen && printed == r.noted["first"][tid] {
			r.pids[tid] = pid
		}
	}
	r.single = onlyValue(r.pids)
	return err
}

// Read reads the next line of events, or a part of it if it is longer than maxLine. It returns io.EOF at the line that
// ends the events. buf must have room for maxLine.
func (l *lineReader) Read(_ context.Context, buf []byte) (int, error) {
	l.eventsEnd = l.offset
	line, err := l.r.ReadSlice('\n')
	l.offset += int64(len(line))
	if !l.part && len(line) <= len(l.end)+2 && string(bytes.TrimRight(line, "\r\n")) == l.end {
		l.ended = true
		return 0, io.EOF
	}
	if l.part = errors.Is(err, bufio.ErrBufferFull); l.part || len(line) > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return copy(buf, line), err
}

// onlyValue returns the only non-zero value, 0 if there are several.
func onlyValue(of map[int]int) (only int) {
	for _, v := range of {
		if only != 0 && v != 0 && only != v {
			return 0
		}
		only = cmp.Or(v, only)
	}
	return only
}

// trailer reads the lines behind the events.
func (r *Recording) trailer(lines *lineReader) error {
	hits := map[string]map[string][]uint64{"profile": {}, "from": {}, "until": {}} // by label and event
	for _, of := range hits {
		for i := range r.Plan.Events {
			of[r.Plan.Events[i].Name] = nil
		}
	}
	err := lines.keys("behind its events is", "complete "+r.nonce, func(line, key, value string) (err error) {
		switch {
		case key == "clock":
			err = r.clock(value)
		case key == "noted":
			err = r.note(value)
		case key == "lost":
			r.lost, err = strconv.ParseUint(value, 10, 63)
		case key == "pass":
			err = r.pass(value)
		case hits[key] != nil:
			event, count, _ := strings.Cut(value, " ")
			counts, ok := hits[key][event]
			if !ok {
				return fmt.Errorf("read recording: it has hits of an event %q that it has not defined", shorten(event))
			}
			var n uint64
			n, err = strconv.ParseUint(count, 10, 63)
			hits[key][event] = append(counts, n)
		}
		if err != nil {
			return fmt.Errorf("read recording: line %q: %w", shorten(line), err)
		}
		return nil
	})
	if errors.Is(err, io.EOF) {
		return nil // the recording was cut off
	}
	if err != nil {
		return err
	}
	if r.profile, err = r.counters(hits["profile"]); err != nil {
		return err
	}
	r.Complete = true
	from, fromErr := r.counters(hits["from"])
	until, untilErr := r.counters(hits["until"])
	if fromErr == nil && untilErr == nil {
		r.moments["from"].hits, r.moments["until"].hits = from, until
	}
	return nil
}

// counters returns the hits of all sites in the order of the plan, or an error if the number of sites is wrong.
func (r *Recording) counters(hits map[string][]uint64) ([][]uint64, error) {
	all := make([][]uint64, len(r.Plan.Events))
	for i := range all {
		ev := &r.Plan.Events[i]
		if all[i] = hits[ev.Name]; len(all[i]) != len(ev.Sites) {
			return nil, fmt.Errorf("read recording: hits of %d sites of event %s, want %d", len(all[i]), ev.Name, len(ev.Sites))
		}
	}
	return all, nil
}

// pass parses "LABEL NS": the time that reading the counters took, at the moment "from" or "until".
func (r *Recording) pass(text string) error {
	label, took, _ := strings.Cut(text, " ")
	ns, err := strconv.ParseUint(took, 10, 62)
	if label != "from" && label != "until" {
		return errors.New("it is of neither end")
	}
	r.moments[label].pass = time.Duration(ns)
	return err
}

// note parses "LABEL TID PID", an entry of noted.
func (r *Recording) note(text string) error {
	var label string
	var tid, pid int
	n, _ := fmt.Sscanf(text, "%s %d %d", &label, &tid, &pid)
	noted := r.noted[label]
	if n != 3 || noted == nil || tid <= 0 || pid <= 0 {
		return errors.New("the process of a thread is missing")
	}
	noted[tid] = pid
	return nil
}
