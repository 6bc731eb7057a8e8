package parse

import "github.com/ftgo/ftgo/tracefs/uprobe"

// siteCache remembers the sites of addresses. Most hits are at a few of them.
type siteCache [256]struct {
	addr         uint64
	format, site int32 // site plus 1: 0 is none
}

// find is pe.Site for an event whose index in the plan is format.
func (c *siteCache) find(pe *uprobe.Event, format int, addr uint64) (site int, ok bool) {
	known := &c[(addr+uint64(format))*0x9e3779b97f4a7c15>>56]
	if known.site != 0 && known.addr == addr && known.format == int32(format) {
		return int(known.site) - 1, true
	}
	if site, ok = pe.Site(addr); ok {
		known.addr, known.format, known.site = addr, int32(format), int32(site)+1
	}
	return site, ok
}
