// Package setclock makes times as they are read once the system's clock was set, for tests.
package setclock

import (
	"fmt"
	"time"
	"unsafe"
)

// By is t, which [time.Now] has returned, as it would be had the clock been set ahead before, or, below zero, back: a clock that
// counts on regardless, which differences are taken of, has stayed (Time in time/time.go).
func By(t time.Time, ahead time.Duration) time.Time {
	set := t.Add(ahead)
	(*struct {
		wall uint64
		ext  int64 // by the clock that counts on
		loc  *time.Location
	})(unsafe.Pointer(&set)).ext -= int64(ahead)
	if set.Sub(t) != 0 || set.Round(0).Sub(t.Round(0)) != ahead {
		panic(fmt.Sprintf("times are not as they were when this was written: %v, %v ahead, is %v", t, ahead, set))
	}
	return set
}
