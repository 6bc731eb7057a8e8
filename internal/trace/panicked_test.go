package trace

import (
	"strings"
	"testing"
)

// TestPanicsOfWork: what works beside the reading panics where it is waited for.
func TestPanicsOfWork(t *testing.T) {
	broken := func() error { panic("broken") }
	for name, wait := range map[string]func(){
		"step": func() {
			m := &switcher{}
			m.work(broken, nil)
			for m.working != nil {
				m.step()
			}
		},
		"end": func() {
			m := &switcher{cancel: func() {}}
			m.work(broken, nil)
			m.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.Contains(text, "goroutine ") || !strings.Contains(text, "trace.(*") {
					t.Errorf("panicked with %q", text)
				}
			}()
			wait()
		})
	}
}
