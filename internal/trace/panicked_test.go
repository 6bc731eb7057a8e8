package trace

import (
	"iter"
	"strings"
	"testing"
	"time"
)

// TestBackgroundPanics checks that a panic in runBackground is raised in the goroutine that waits.
func TestBackgroundPanics(t *testing.T) {
	for name, wait := range map[string]func(*sampler){
		"step": func(m *sampler) {
			for {
				m.step()
			}
		},
		"end": func(m *sampler) {
			m.step()
			m.stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.Contains(text, "goroutine ") || !strings.Contains(text, "trace.(*") {
					t.Errorf("panicked with %q", text)
				}
			}()
			later := time.Now().Add(time.Hour)
			m := &sampler{wake: time.NewTimer(0), load: &load{measureNext: later, measuredAt: later}}
			m.resume, m.stop = iter.Pull(func(yield func(error) bool) {
				m.yield = yield
				m.runBackground(func() error { panic("broken") })
			})
			wait(m)
		})
	}
}
