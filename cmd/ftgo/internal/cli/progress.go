package cli

import (
	"sync"
	"time"
)

// Progress says what is being done, each second that there is news, until stop is called, because
// who waits for more than a second wants to know for what.
func (e *Env) Progress(what func() string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		said := ""
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if now := what(); now != said {
					e.Say("%s", now)
					said = now
				}
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
