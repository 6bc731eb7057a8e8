package pairing

import "github.com/ftgo/ftgo/internal/uprobe"

// siteIndex finds the sites of addresses.
type siteIndex struct {
	events []map[uint64]int // by event: address → site
	// recent are answers: most hits are at a few addresses.
	recent [256]struct {
		addr         uint64
		format, site int32 // site plus 1: 0 is none
	}
}

// add takes the next event of a plan.
func (c *siteIndex) add(ev *uprobe.Event) {
	sites := make(map[uint64]int, len(ev.Sites))
	for i := range ev.Sites {
		sites[ev.Sites[i].Addr] = i
	}
	c.events = append(c.events, sites)
}

// find is the site of an event at an address of the file, load bias taken off.
func (c *siteIndex) find(format int, addr uint64) (site int, ok bool) {
	known := &c.recent[(addr+uint64(format))*0x9e3779b97f4a7c15>>56]
	if known.site != 0 && known.addr == addr && known.format == int32(format) {
		return int(known.site) - 1, true
	}
	if site, ok = c.events[format][addr]; ok {
		known.addr, known.format, known.site = addr, int32(format), int32(site)+1
	}
	return site, ok
}
