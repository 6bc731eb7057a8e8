package tracefs

import (
	"fmt"
	"strconv"
	"strings"
)

// fromSite says "@+OFFSET", what is so far behind where the file is mapped, by its distance
// from the probe: "+N(%ip)".
//
// From 4.20 to 2026 kernels add the offset twice, and fetch from somewhere else (commit
// 533059281ee5, "tracing: probeevent: Introduce new argument fetching code", which leaves
// it in the variable that it takes for the dereference); older and newer ones reckon from
// the probe, too (kernel/trace/trace_uprobe.c, translate_user_vaddr).
func fromSite(fetch string, site uint64) string {
	before, after, ok := strings.Cut(fetch, "@+")
	if !ok {
		return fetch
	}
	end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefxABCDEFX", r) })
	if end < 0 {
		end = len(after)
	}
	offset, err := strconv.ParseInt(after[:end], 0, 64)
	if err != nil {
		return fetch // for the kernel to refuse
	}
	return fmt.Sprintf("%s%+d(%%ip)%s", before, offset-int64(site), after[end:])
}
