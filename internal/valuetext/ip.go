package valuetext

import (
	"net/netip"

	"github.com/ftgo/ftgo/internal/capture"
)

// ipOf makes an address of a net.IP. It is not ok for bytes that no address has: those are
// shown as the bytes they are.
func ipOf(v *capture.Value) (ip netip.Addr, ok bool) {
	if v.Type.Name != "net.IP" || v.Cut() {
		return netip.Addr{}, false
	}
	ip, ok = netip.AddrFromSlice(v.Bytes)
	return ip.Unmap(), ok // as net.IP.String has it
}
