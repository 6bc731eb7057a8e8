package tracefs

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/edit"
	"github.com/ftgo/ftgo/internal/owner"
	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// maxKernelEvents is more than any group has: syscalls has 720 on Linux 6.18.
const maxKernelEvents = 1000

// KernelEvents finds the events of this kernel that patterns match, GROUP:EVENT each, with
// * ? and [...] as in a shell, in the order of the patterns and, of one, of their names.
// Probes that anybody has defined are not among them: one that is enabled here
// when its owner deletes it can take the kernel down (see [FS.Sweep]).
func (f *FS) KernelEvents(patterns []string) ([]string, error) {
	b, err := f.tree.Ops.Read(f.tree.Path("available_events"))
	if err != nil {
		return nil, files.Refused("read", f.tree.Path("available_events"), err)
	}
	dynamic := f.dynamicEvents()
	var known []string
	for name := range strings.FieldsSeq(string(b)) {
		if group, event, ok := strings.Cut(name, ":"); ok && !dynamic[group+"/"+event] && !strings.HasPrefix(group, owner.Prefix) {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	var found []string
	for _, p := range patterns {
		group, event, ok := strings.Cut(p, ":")
		if _, err := path.Match(p, ""); err != nil || !ok || group == "" || event == "" {
			return nil, fmt.Errorf("find kernel event %q: not GROUP:EVENT, like sched:sched_switch or block:*", p)
		}
		n := 0
		for _, name := range known {
			if match, _ := path.Match(p, name); match {
				n++
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
		if n == 0 {
			return nil, unknownEvent(p, nearestEvents(p, known, 3))
		}
	}
	if len(found) > maxKernelEvents {
		return nil, fmt.Errorf("find kernel events %q: %d match, at most %d can be read", strings.Join(patterns, ","), len(found), maxKernelEvents)
	}
	return found, nil
}

// unknownEvent is the error of a pattern that matches no event; near are alike, the most alike
// first.
func unknownEvent(pattern string, near []string) error {
	text := fmt.Sprintf("find kernel event %q: this kernel has none of that name", pattern)
	if len(near) > 0 {
		text += "; nearest: " + strings.Join(near, ", ")
	}
	return errors.New(text)
}

// dynamicEvents are the events that somebody has defined, "GROUP/EVENT" each.
func (f *FS) dynamicEvents() map[string]bool {
	names := make(map[string]bool)
	for _, file := range []string{"uprobe_events", "kprobe_events", "dynamic_events"} {
		b, err := f.tree.Ops.Read(f.tree.Path(file))
		if err != nil {
			continue // the kernel has no such events
		}
		for line := range strings.Lines(string(b)) {
			// "p:GROUP/EVENT PLACE ...", "r4:GROUP/EVENT ...", "s:synthetic/EVENT ..."
			if _, rest, ok := strings.Cut(line, ":"); ok {
				name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
				names[name] = true
			}
		}
	}
	return names
}

// nearestEvents are those of names that are most like text.
func nearestEvents(text string, names []string, n int) []string {
	type near struct {
		name string
		far  int
	}
	_, word, _ := strings.Cut(text, ":")
	var all []near
	for _, name := range names {
		_, event, _ := strings.Cut(name, ":")
		far := edit.Distance(text, name)
		if strings.Contains(event, strings.Trim(word, "*")) && len(word) > 2 {
			far = min(far, 2) // the group is wrong, or half of the name is missing
		}
		if far <= 2+len(text)/5 {
			all = append(all, near{name, far})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int {
		return cmp.Or(a.far-b.far, len(a.name)-len(b.name))
	})
	var out []string
	for _, a := range all[:min(n, len(all))] {
		out = append(out, a.name)
	}
	return out
}
