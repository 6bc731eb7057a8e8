package trace

import (
	"strings"
	"testing"
	"time"
)

// TestPanicsOfWork: what works beside the reading panics where it is waited for.
func TestPanicsOfWork(t *testing.T) {
	for name, wait := range map[string]func(*switcher){
		"step": func(m *switcher) {
			for {
				m.step(0)
			}
		},
		"end": func(m *switcher) {
			m.step(0)
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
			m := &switcher{cancel: func() {}, next: time.Now().Add(time.Hour)}
			m.start(func(yield func(error) bool) {
				m.yield = yield
				m.beside(func() error { panic("broken") })
			})
			wait(m)
		})
	}
}
