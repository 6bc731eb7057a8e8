package machine

import (
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/clocks"
)

// clockSources lists what the kernel can tell the time by. The kernel drops tsc from it when
// it finds the counter unstable or unsynchronised (arch/x86/kernel/tsc.c, mark_tsc_unstable).
const clockSources = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

// ChooseClock is the best trace clock of those offered ("[local] global ..."), and tells
// whether the kernel trusts the cycle counter to run at one rate on all CPUs.
func (m Machine) ChooseClock(offered string) (clock string, counterTrusted bool) {
	counterTrusted = slices.Contains(strings.Fields(m.Read(clockSources)), "tsc")
	return chooseClock(offered, counterTrusted), counterTrusted
}

// chooseClock prefers raw cycles, if they are trusted, and then the monotonic clock, which is
// ordered between CPUs.
func chooseClock(offered string, counterTrusted bool) string {
	have := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(offered))
	for _, clock := range []string{clocks.Counter, clocks.Monotonic, "global"} {
		if slices.Contains(have, clock) && (clock != clocks.Counter || counterTrusted) {
			return clock
		}
	}
	return "local"
}
