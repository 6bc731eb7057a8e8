package doctor

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/ftgo/ftgo/internal/clocks"
	"github.com/ftgo/ftgo/tracefs"
)

// features are what this kernel's tracefs can do, one finding each.
func (h *host) features(f *tracefs.FS, add func(check string, found Finding)) {
	readme, err := os.ReadFile(file(f, "README"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		add("features", Unknown.of("not to be seen without permission"))
		return
	}
	have := f.Features()
	for i, c := range []struct {
		check  string
		has    bool
		good   string
		less   string
		serves State // what it is not to have it
	}{
		{"instances", has(f, "instances"), "each run has its own", "since Linux 3.10: runs can't be kept apart", Missing},
		{"recording", have.Instances, "uprobes are recorded in instances", "since Linux 3.14: runs take the top level, and --force to say so", Warning},
		{"fetching", have.Memory, "values are fetched from memory", "since Linux 3.14: registers only, which is enough for count and trace --entries", Warning},
		{"append", have.Append, "one event has many sites", "since Linux 5.4: an event a site, each of which takes long to remove", Warning},
		{"push", have.PushEmulated, "a probed push of a register is emulated", "since Linux 5.4: entries are probed at the jump of the stack check, which is emulated", Warning},
		{"arrays", have.Arrays, "memory is fetched many words at once", "since Linux 4.20: values of trace are fetched word by word", Warning},
		{"set_event_pid", have.EventPID, "sessions can record single processes", "since Linux 4.4: sessions record all processes of the file", Warning},
		{"event-fork", have.EventFork, "and follow the threads they start", "since Linux 4.9: sessions of single processes miss threads they start", Warning},
		{"record-tgid", have.RecordTGID, "lines name the process", "since Linux 4.14: kernel events tell whose threads are", Warning},
		{"hits", have.ExactHits, "the kernel counts every hit", "since Linux 6.12: hits of several CPUs at once may count as one, so count records them all", Warning},
		{"error_log", has(f, "error_log"), "refusals are explained", "since Linux 5.4: refusals are not explained", Warning},
		{"buffer_percent", has(f, "buffer_percent"), "there, though readers do not depend on it", "since Linux 5.4; readers do not depend on it", OK},
		{"raw pages", has(f, "per_cpu", "cpu0", "trace_pipe_raw") && has(f, "events", "header_page"), "--reader raw", "--reader raw can't be used", Warning},
		{"hist", strings.Contains(string(readme), "hist:keys="), "probe --in-kernel", "CONFIG_HIST_TRIGGERS is not set: no probe --in-kernel", Warning},
		{"synthetic", has(f, "synthetic_events"), "probe --in-kernel", "CONFIG_SYNTH_EVENTS is not set: no probe --in-kernel", Warning},
	} {
		if i == 1 {
			add("clock", h.clock(f))
		}
		if c.has {
			add(c.check, OK.of(c.good))
		} else {
			add(c.check, c.serves.of(c.less))
		}
	}
}

// clock is the one that sessions use.
func (h *host) clock(f *tracefs.FS) Finding {
	offered, err := os.ReadFile(file(f, "trace_clock"))
	if err != nil {
		return Unknown.of("trace_clock can't be read")
	}
	clock, trusted := h.ChooseClock(string(offered))
	text := clock + ": latencies to the microsecond (but for --reader raw)"
	switch {
	case clock == clocks.Counter:
		return OK.of(clock + ": cycles, which the kernel trusts")
	case clock == "local":
		return Warning.of("local: CPUs do not agree on the time")
	case !trusted:
		text += ", since the kernel does not trust the cycle counter"
	}
	return Warning.of(text)
}
