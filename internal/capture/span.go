package capture

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
)

// The paths of a call's trace ID, and of its trace ID, span ID and flags as in the header traceparent of W3C.
const (
	TraceID     = "trace"
	TraceParent = "traceparent"
)

// IsTrace reports whether a path is TraceID or TraceParent.
func IsTrace(path string) bool { return path == TraceID || path == TraceParent }

// maxContexts is the number of contexts, each the parent of the one before, that are searched for a span.
const maxContexts = 8

// context is a context.Context whose words are fetched. The first words of all types in [gotype.ContextTypes] are the parent, and a
// *context.valueCtx has {Context; key, val any} (context/context.go).
type context struct {
	itab, key, val leaf    // the first words of the context, of its key and of its value
	guards         []guard // of the words behind the pointer in the context
	ids            []traceWords
}

// traceWords are the fetched words at a place.
type traceWords struct {
	gotype.SpanPlace
	word   int
	guards []guard
}

// trace returns the source of the trace ID in the first argument that is or has a context.
func (b *Builder) trace() (*gotype.Type, source, error) {
	var places []gotype.SpanPlace
	for _, name := range gotype.SpanTypes {
		t, err := b.opt.Type(name)
		if err != nil {
			continue
		} else if p, ok := gotype.SpanIn(t); ok && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		return nil, source{}, errors.New("the program has no spans of OpenTelemetry or Datadog that ftgo knows")
	}
	for _, steps := range [][]string{nil, {"ctx"}, {"Request", "ctx"}} {
		for i := range b.vars {
			if !isContext(b.vars[i].Type, steps) {
				continue
			}
			t, s := b.root(&b.vars[i])
			for _, step := range steps {
				t, s, _ = b.step(t, s, step)
			}
			if s.spans, s.reason = b.contexts(s, places); len(s.spans) > 0 {
				s.reason = ""
			}
			return stringType, s, nil
		}
	}
	return nil, source{}, errors.New("no argument is known to be a context.Context or *http.Request")
}

// isContext reports whether the fields steps of a type lead to a context, the last one from a request of net/http.
func isContext(t *gotype.Type, steps []string) bool {
	for i, step := range steps {
		if t == nil || t.Elem() == nil || i == len(steps)-1 && strings.TrimPrefix(t.Elem().Name, "net/") != "http.Request" {
			return false
		}
		f := field(t.Elem(), step, 0)
		if f == nil {
			return false
		}
		t = f[0].Type
	}
	return t != nil && t.Name == "context.Context" && t.Kind == reflect.Interface
}

// contexts plans how to fetch a context, its parents and the trace IDs in them.
func (b *Builder) contexts(s source, places []gotype.SpanPlace) (all []context, reason string) {
	for range maxContexts {
		var c context
		if c.itab, reason = b.scalar(s, 8, false); reason != "" {
			break
		}
		in, _ := b.follow(s.at(8), &gotype.Type{Align: 8})
		b.prefetch(in, gotype.ContextValue+8)
		c.guards = in.guards
		c.key, reason = b.scalar(in.at(16), 8, false)
		c.val, _ = b.scalar(in.at(32), 8, false)
		for _, p := range places {
			to, _ := b.follow(in.at(p.At), nil)
			if p.Through >= 0 {
				to, _ = b.follow(to.at(p.Through), nil)
			}
			word, missing := b.array(to.at(p.ID), p.Words())
			c.ids, reason = append(c.ids, traceWords{p, word, to.guards}), cmp.Or(reason, missing)
		}
		if reason != "" {
			break
		}
		all, s = append(all, c), in
	}
	return all, reason
}

// findSpan decodes the trace ID of the innermost span in a context.
func (d *decoder) findSpan(n *node) Value {
	v := Value{Name: n.name, Type: n.typ}
	for i := range n.spans {
		c := &n.spans[i]
		if v.markUnreadable(d.checkGuards(c.guards[:len(c.guards)-1])) {
			return v
		}
		t, reason := d.interfaceType(c.itab.read(d.words), true, leaf{})
		if v.markUnreadable(reason) {
			return v
		}
		holder := t
		switch name := t.Name; {
		case slices.Contains(gotype.ContextTypes, name) && (t.Elem() == nil || len(t.Elem().Fields) == 0 || t.Elem().Fields[0].Type.Kind != reflect.Pointer):
			continue // in Go 1.20, a timerCtx has a pointer to a cancelCtx
		case slices.Contains(gotype.EmptyContexts, name):
			v.markUnreadable(noSpan)
			return v
		case name == "*context.valueCtx":
			if v.markUnreadable(d.checkGuards(c.guards)) {
				return v
			}
			key := d.process.DynamicType(c.key.read(d.words))
			if key == nil || !slices.Contains(gotype.SpanKeys, key.Name) {
				continue
			}
			if holder = d.process.DynamicType(c.val.read(d.words)); holder == nil {
				v.markUnreadable(noDynamicType)
				return v
			}
		case name != "*tracer.spanCtx":
			v.State, v.Reason = Unfetched, "not known of a "+name
			return v
		}
		p, ok := gotype.SpanIn(holder)
		at := slices.IndexFunc(c.ids, func(w traceWords) bool { return ok && w.SpanPlace == p })
		switch {
		case at >= 0:
			d.spanIn(&v, &c.ids[at])
		case !strings.HasPrefix(holder.Name, "*tracer.") && !strings.Contains(holder.Name, "trace."):
			continue // another package's internal.contextKey
		default:
			v.State, v.Reason = Unfetched, "not known of a "+holder.Name
		}
		return v
	}
	v.State, v.Reason = Unfetched, fmt.Sprintf("not in the first %d contexts", len(n.spans))
	return v
}

const noSpan = "no span in the context"

// spanIn decodes the trace ID at a place.
func (d *decoder) spanIn(v *Value, w *traceWords) {
	if v.markUnreadable(d.checkGuards(w.guards)) || v.markUnreadable(d.checkWords(w.guards[len(w.guards)-1].pointer.read(d.words)+uint64(w.ID), w.word, 2)) {
		return
	}
	raw := d.rawBytes(w.word, w.Words())
	id, span, flags := raw[:16], raw[w.Span:w.Span+8], byte(1)
	if w.Flags > 0 {
		flags = raw[w.Flags]
	} else {
		slices.Reverse(span)
	}
	if v.Bytes = []byte(hex.EncodeToString(id)); v.Name == TraceParent {
		v.Bytes = fmt.Appendf(nil, "00-%x-%x-%02x", id, span, flags)
	}
	if v.Len = int64(len(v.Bytes)); bytes.Count(id, []byte{0}) == len(id) {
		*v = Value{Name: v.Name, Type: v.Type, State: Unreadable, Reason: noSpan}
	}
}
