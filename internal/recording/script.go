package recording

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// All scripts contain these parts: recorder with functions, and main, the main program.
//
//go:embed recorder.sh
var recorder string

//go:embed recording.sh
var main string

// Script is a shell script that records on a machine without ftgo. It checks that the binary is the one in About,
// defines the events, records the same text that tracefs.Session.Read returns, and removes the events.
type Script struct {
	About
	// Budget is the cost of probes, in percent of a CPU, beyond which the script ends; 0 is no limit. HitNS is the maximum
	// cost of a hit of each event in nanoseconds. It is needed only for a Budget.
	Budget   float64
	HitNS    []float64
	Seconds  string // default duration in seconds, "" for no limit
	BufferKB int    // size of the ring buffer per CPU; 0: the script chooses one that suits the machine
}

// Text returns the script, for any POSIX shell, or an error if the kernel would refuse the events.
func (s *Script) Text() (string, error) {
	events := uprobe.TraceEvents(s.Plan.Events)
	if len(events) == 0 {
		return "", errors.New("write script: no event")
	}
	s.Processor = s.Plan.Processor.Machine().Name
	for _, f := range s.Plan.Skipped {
		s.Skipped = append(s.Skipped, [2]string{f.Name, f.Err.Error()})
	}
	about, err := json.Marshal(s.About)
	if err != nil {
		return "", err
	}
	_, nonce, _ := strings.Cut(events[0].Name, "_") // the names of all events end with it
	var names, probes strings.Builder
	places, appends, arrays := s.Plan.Probes(), 0, 0
	if places > len(events) {
		appends = 1
	}
	for i := range events {
		ev := &events[i]
		fmt.Fprintf(&names, "\n%s", ev.Name)
		if slices.ContainsFunc(ev.Args, func(a tracefs.Arg) bool { return uprobe.ArrayLen(a) > 0 }) {
			arrays = 1
		}
		if err := define(&probes, ev); err != nil {
			return "", err
		}
	}
	for i := range events {
		if ev := &events[i]; ev.Filter != "" {
			fmt.Fprintf(&probes, "\tfilter %s %s\n", ev.Name, shellQuote(ev.Filter))
		}
	}
	binary := &s.Binary
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# Records calls of %s at %s, for ftgo report.\n# Made by ftgo %s; sh SCRIPT -h shows its usage.\n",
		printable.Plural(len(s.Plan.Funcs), "function"), printable.Plural(places, "place"), printable.Text(s.Version))
	b.WriteString("# shellcheck disable=SC2016,SC2034,SC2317,SC2329 # quotes are meant, traps call functions\n")
	fmt.Fprintf(&b, "\n%sshown=%s\nsize=%d\nsha256=%s\n", shellAssign("binary", binary.Path), shellQuote(printable.Text(binary.Path)), binary.Size, binary.SHA256)
	fmt.Fprintf(&b, "seconds=%s\nbuffer_kb=%d\nnonce=%s\nplaces=%d\nappend=%d\narrays=%d\n", shellQuote(s.Seconds), s.BufferKB, nonce, places, appends, arrays)
	// The script's variable share is in millionths.
	fmt.Fprintf(&b, "budget=%s\nshare=%d\n", strconv.FormatFloat(s.Budget, 'f', -1, 64), int(math.Ceil(s.Budget*1e4)))
	for i, ns := range s.HitNS {
		fmt.Fprintf(&b, "cost_%s=%.0f\n", events[i].Name, ns)
	}
	fmt.Fprintf(&b, "events='%s'\n\nprobes() {\n%s}\n\n", names.String(), probes.String())
	fmt.Fprintf(&b, "header() {\n\tcat <<'END_%s'\n# ftgo-recording %d %s\n# about %s\nEND_%s\n}\n\n", nonce, version, nonce, printable.JSON(about), nonce)
	b.WriteString(recorder + main)
	return b.String(), nil
}

// define writes the commands that define an event: one for each sequence of sites with the same arguments.
func define(b *strings.Builder, ev *tracefs.Event) error {
	const perLine = 8
	last := ""
	lines, err := ev.Definitions("", "") // "p:/NAME :SITE ARGS"
	for i, line := range lines {
		_, site, _ := strings.Cut(line, ":0x")
		args := ""
		if at := strings.IndexByte(site, ' '); at >= 0 {
			site, args = site[:at], site[at:]
		}
		switch {
		case i == 0 || args != last:
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "\tat %s %s", ev.Name, shellQuote(args))
		case i%perLine == 0:
			b.WriteString(" \\\n\t\t0x" + site)
			continue
		}
		b.WriteString(" 0x" + site)
		last = args
	}
	b.WriteByte('\n')
	return err
}

// shellAssign returns a command that sets a variable to any text. It escapes text that is not printable, which could
// control the terminal of a reader. The "." keeps the shell from removing newlines at the end of the text.
func shellAssign(name, text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return name + "=" + shellQuote(text) + "\n"
	}
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "\\%03o", text[i])
	}
	return fmt.Sprintf("%s=$(printf '%s.')\n%[1]s=${%[1]s%%.}\n", name, b.String())
}

// shellQuote quotes any text as one word.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
