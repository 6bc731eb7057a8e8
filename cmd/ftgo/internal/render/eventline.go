package render

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/printable"
)

// EventLine is what a line tells of a kernel event.
type EventLine struct {
	Time time.Time
	// Name is GROUP:EVENT.
	Name string
	// Known: it is known what the thread ran. Goid is its goroutine then, 0 if none, and
	// Function the innermost traced call there, "" if none was open.
	Known         bool
	Goid          uint64
	Function      string
	PID, TID, CPU int
	Fields        []parse.KernelField
}

// Event writes a kernel event between the calls: text or JSON.
//
//	event  goroutine 7  main.save  thread 4711 cpu 1  syscalls:sys_enter_write fd=3 buf=0xc000012345 count=5
//
// A goroutine is named if it is certain.
func (w *CallWriter) Event(e *EventLine) error {
	if w.o.Format == JSON {
		w.line = appendEventJSON(w.line[:0], e)
	} else {
		w.line = w.appendEvent(w.line[:0], e)
	}
	w.line = append(w.line, '\n')
	return write(w.w, "kernel event", w.line)
}

func (w *CallWriter) appendEvent(b []byte, e *EventLine) []byte {
	b = append(w.appendTime(b, &e.Time), "   event  "...)
	if w.o.Processes {
		b = fmt.Appendf(b, "pid %d ", e.PID)
	}
	if e.Goid != 0 {
		b = fmt.Appendf(b, "goroutine %d  ", e.Goid)
	}
	if e.Function != "" {
		b = append(append(b, printable.Text(e.Function)...), "  "...)
	}
	return appendEventText(fmt.Appendf(b, "thread %d cpu %d  ", e.TID, e.CPU), e)
}

// appendEventText writes what happened.
func appendEventText(b []byte, e *EventLine) []byte {
	b = append(b, printable.Text(e.Name)...)
	for i := range e.Fields {
		b = append(append(append(b, ' '), e.Fields[i].Name...), '=')
		b = append(b, e.Fields[i].String()...)
	}
	return b
}

func appendEventJSON(b []byte, e *EventLine) []byte {
	b = append(e.Time.UTC().AppendFormat(append(b, `{"type":"event","time":"`...), jsonTime), '"')
	b = printable.AppendJSON(append(b, `,"name":`...), e.Name)
	b = fmt.Appendf(b, `,"pid":%d,"tid":%d,"cpu":%d`, e.PID, e.TID, e.CPU)
	if e.Known {
		b = strconv.AppendUint(append(b, `,"goid":`...), e.Goid, 10)
	}
	if e.Function != "" {
		b = printable.AppendJSON(append(b, `,"function":`...), e.Function)
	}
	return append(appendFieldsJSON(append(b, `,"fields":`...), e.Fields), '}')
}

// appendFieldsJSON writes an object: strings as such, with bytes that are no UTF-8 replaced,
// addresses and other bytes in hexadecimal.
func appendFieldsJSON(b []byte, fields []parse.KernelField) []byte {
	b = append(b, '{')
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(printable.AppendJSON(b, f.Name), ':')
		switch {
		case f.Text != nil:
			b = printable.AppendJSON(b, string(f.Text))
		case f.Bytes != nil, f.Hex:
			b = printable.AppendJSON(b, f.String())
		default:
			b = append(b, f.String()...)
		}
	}
	return append(b, '}')
}
