package main

import (
	"sync"
	"time"
)

// progress says what is being done, each second that there is news, until stop is called: who waits for more
// than a second wants to know for what.
func (e *env) progress(what func() string) (stop func()) {
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
					e.say("%s", now)
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
